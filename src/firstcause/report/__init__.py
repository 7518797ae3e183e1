"""Results as people and programs read them: pure functions of a record, no files, no logic."""

from firstcause.report import json_file, markdown, terminal

__all__ = ["json_file", "markdown", "terminal"]
