"""Inside the user's program: the standard library and torch only, and never a change of what it computes."""
