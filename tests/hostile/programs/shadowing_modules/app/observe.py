WHO = "the user's observe"
