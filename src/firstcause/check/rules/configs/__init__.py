"""Config files and launch lines: what contradicts the code, and what nothing reads."""
