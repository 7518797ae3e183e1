"""Data: loaders, data sets, transforms and splits."""
