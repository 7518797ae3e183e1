"""What a loss is given, and what becomes of it."""
