"""The user's words as instructions: a grammar, no guessing; the later message wins, every one keeps its sentence."""
