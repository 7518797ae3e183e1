"""Logging and trackers: started before they are written to, and not in the way of the training."""
