"""The figures of a run written for other programs: one format a file."""
