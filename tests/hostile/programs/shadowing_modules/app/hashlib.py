WHO = "the user's hashlib"
