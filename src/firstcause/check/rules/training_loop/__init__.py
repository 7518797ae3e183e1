"""The order of a training step, and what belongs into it."""
