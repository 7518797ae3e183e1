WHO = "the user's tokenize"
