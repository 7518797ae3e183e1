WHO = "the user's json"
