WHO = "the user's schema"
