WHO = "the user's record"
