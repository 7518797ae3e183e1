"""firstcause finds the first cause of a failing PyTorch run, proves it, and only then fixes it."""

__version__ = "0.1.0"
