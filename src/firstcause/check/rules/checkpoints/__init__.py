"""Checkpoints: saved once, whole, and read as what was saved."""
