"""Names: defined before they are used, imported, and not taken by something else."""
