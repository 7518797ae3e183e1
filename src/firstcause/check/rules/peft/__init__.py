"""Adapters: on modules that exist, on weights that can be trained, saved as what they are."""
