"""From edits to a Fix: the texts are changed in memory, checked to be Python still, and compared."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable

from firstcause.fix.edits import Edit, apply_edits, unified_diff
from firstcause.schema import Fix
from firstcause.source import Project


def draft(
    project: Project,
    root: str,
    cause: str,
    edits: Iterable[Edit],
    summary: str,
    changes: str,
    does_not_fix: str,
) -> Fix | None:
    """The Fix that makes some edits, its diff relative to ``root``; None where a file cannot be changed safely."""
    diffs: list[str] = []
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    for path, own in sorted(by_path.items()):
        module = project.module(path)
        relative = os.path.relpath(path, root)
        # A diff is UTF-8; the patched file would not be what its coding line says.
        if (
            module is None
            or relative.startswith("..")
            or module.encoding not in ("utf-8", "utf-8-sig", "ascii")
        ):
            return None
        before = module.text.removeprefix("\ufeff")
        after = apply_edits(before, own)
        if before == after or not _is_python(after):
            return None
        mark = "\ufeff" if module.bom else ""
        diffs.append(unified_diff(relative, mark + before, mark + after))
    return Fix(cause, "".join(diffs), summary, changes, does_not_fix) if diffs else None


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
