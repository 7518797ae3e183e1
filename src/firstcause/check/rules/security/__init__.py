"""What must not stand in code, and files that may run code when they are read."""
