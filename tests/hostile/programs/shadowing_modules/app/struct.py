WHO = "the user's struct"
