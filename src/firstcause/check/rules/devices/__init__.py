"""Devices: models and batches in the same place, and no waiting that nobody needs."""
