"""Skills for coding agents, made from the catalogue: a router, a skill for each specialist, and two ways of working."""
