"""``apply_fix``: the approved diff, written into exactly the files that it was shown for."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult

from firstcause.case import apply, project_of, sources_of, unapproved
from firstcause.mcp.answers import CaseAnswer, given
from firstcause.mcp.cases import required, standing
from firstcause.mcp.refusing import refusing


@refusing
async def apply_fix(case: str = "") -> Annotated[CallToolResult, CaseAnswer]:
    """Apply the fix that a person has approved: all of its files, or none. The approval is used up by it."""
    folder, _ = required(case, "apply_fix")
    cwd = project_of(folder.path)
    progress = apply(folder, cwd, sources_of(folder))
    assert progress.applied is not None
    changed = ", ".join(f"{p} {c.before[:12]} -> {c.after[:12]}" for p, c in progress.applied.files.items())
    others = [f"{d.path} {d.how}" for d in unapproved(cwd, progress.applied)]
    beside = (
        f"; nobody approved: {', '.join(others)}, and nothing is verified until that is put back"
        if others
        else ""
    )
    return given(standing(folder, f"applied: {changed}{beside}"))
