"""From what people paste to the right first step: the specialist, what is suspected, what to gather."""
