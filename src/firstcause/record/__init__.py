"""Observing any command: the parent that supervises, the half inside the program, and the run on disk."""
