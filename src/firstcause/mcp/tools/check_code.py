"""``check_code``: reading code before it runs."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from firstcause.mcp.answers import CheckAnswer, Step, given
from firstcause.mcp.places import inside
from firstcause.mcp.refusing import refusing
from firstcause.mcp.working import error_of, work


@refusing
async def check_code(
    ctx: Context[Any, Any], paths: list[str] | None = None, budget_seconds: float = 60.0
) -> Annotated[CallToolResult, CheckAnswer]:
    """Read Python files or folders of the project for faults, without running them."""
    wanted = paths or ["."]
    for path in wanted:
        inside(path)
    done = await work(ctx, ["check", "-q", "--json", "-", "--", *wanted], budget_seconds, "reading the code")
    if done.code not in (0, 1):
        raise error_of(done)
    report: dict[str, Any] = json.loads(done.out)
    errors = [f for f in report["findings"] if f.get("severity") == "error"]
    first = errors[0] if errors else None
    step = Step(
        tool="open_case", arguments={"script": "the script"}, why="nothing is certain before it has run"
    )
    if first is not None:
        step = Step(
            tool="explain", arguments={"slug": first.get("rule", "")}, why=f"{first['file']}:{first['line']}"
        )
    answer = CheckAnswer(
        said=f"{len(errors)} errors among {len(report['findings'])} findings in {report['files']} files",
        next=step,
        pointers=[f"{f['file']}:{f['line']}" for f in errors[:10]],
        seconds=round(done.seconds, 2),
        budget_seconds=budget_seconds,
        errors=len(errors),
        findings=[*errors, *(f for f in report["findings"] if f not in errors)],
        notes=list(report["notes"]),
    )
    return given(answer)
