WHO = "the user's ast"
