"""Where hypotheses meet evidence: the deep replay of a step, and what it saw."""
