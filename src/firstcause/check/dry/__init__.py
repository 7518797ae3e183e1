"""The dry run: the unmodified program on tensors without data, in a sealed child of its own."""
