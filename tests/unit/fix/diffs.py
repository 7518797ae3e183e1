"""Unified diffs as another tool writes them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping


def unified(changes: Mapping[str, tuple[str, str]], context: int = 3) -> str:
    """A unified diff of {path: (before, after)}, markers for missing newlines included."""
    text = ""
    for path, (old, new) in changes.items():
        pair = (old.splitlines(keepends=True), new.splitlines(keepends=True))
        for line in difflib.unified_diff(*pair, f"a/{path}", f"b/{path}", n=context):
            text += line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
    return text
