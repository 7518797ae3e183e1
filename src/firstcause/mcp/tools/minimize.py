"""``minimize``: a script of a few lines that fails as a run did."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from firstcause.mcp.answers import MinimalAnswer, Step, given
from firstcause.mcp.places import inside
from firstcause.mcp.refusing import refusing
from firstcause.mcp.working import error_of, work
from firstcause.record.supervise import afterwards


@refusing
async def minimize(
    ctx: Context[Any, Any], run: str = "last", budget_seconds: float = 120.0
) -> Annotated[CallToolResult, MinimalAnswer]:
    """Make a script of a few lines, with torch alone, that fails as a recorded run did."""
    folder = afterwards.found(run, os.getcwd())
    inside(folder.path)
    path = os.path.join(folder.path, "minimal.py")
    words = ["minimize", folder.path, "-o", path, "--json", "-", "--budget", f"{budget_seconds:.0f}"]
    done = await work(ctx, words, budget_seconds, "making the failing step smaller")
    if done.code != 0:
        raise error_of(done)
    with open(path, encoding="utf-8") as file:
        script = file.read()
    made = json.loads(done.out)
    answer = MinimalAnswer(
        said=f"{made['left']} of the step's {made['calls']} calls are left; it ends with: {made['ends']}",
        next=Step(
            tool="open_case",
            arguments={"run": run},
            why="the script shows the failure, and not yet its cause",
        ),
        pointers=[os.path.relpath(path)],
        seconds=round(done.seconds, 2),
        budget_seconds=budget_seconds,
        script=script,
        lines=sum(1 for line in script.splitlines() if line.strip() and not line.startswith("#")),
    )
    return given(answer)
