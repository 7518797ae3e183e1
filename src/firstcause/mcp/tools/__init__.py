"""The tools, one module each; none of them approves."""
