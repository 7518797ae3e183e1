"""Answers a coding agent that is about to change a file: a denial while a case is open without an approval.

The standard library only: an agent asks before each of its calls, and waits for the answer.
"""
