"""Histories of other programs: one format a file, each read into the same form."""
