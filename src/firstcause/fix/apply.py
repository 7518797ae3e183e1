"""A unified diff applied to a folder: every file of it, or none."""

from __future__ import annotations

from firstcause.fix.patch import parse, patched
from firstcause.fix.writing import rewrite, target


def apply_diff(diff: str, folder: str) -> list[str]:
    """Apply ``diff`` (with a/ and b/ prefixes) beneath ``folder``; returns the diff's paths.

    Raises ``InputError`` where a line differs from what the diff expects, or a path leads outside; nothing is
    changed then.
    """
    patches = parse(diff)
    changes = {}
    for patch in patches:
        path = target(folder, patch.path)
        with open(path, "rb") as file:
            changes[path] = patched(patch, file.read())
    rewrite(changes)
    return [patch.path for patch in patches]
