"""What the code does, by the keys of instructions: each value with where it stands and how it was found."""
