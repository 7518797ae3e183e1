"""Patches built from data flow, the line to fix, and their trial in a throw-away copy."""
