"""``verify_fix``: the program run again, and every file compared with what was approved."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from firstcause.mcp.answers import CaseAnswer, given
from firstcause.mcp.cases import required, standing
from firstcause.mcp.refusing import refusing
from firstcause.mcp.working import error_of, work


@refusing
async def verify_fix(
    ctx: Context[Any, Any], case: str = "", budget_seconds: float = 300.0
) -> Annotated[CallToolResult, CaseAnswer]:
    """Run the program again in a copy: the symptom is gone, or the fix was a strike.

    A file that changed without an approval voids the verification, whoever changed it.
    """
    folder, _ = required(case, "verify_fix")
    words = ["case", "verify", folder.id, "--json", "-", "--budget", f"{budget_seconds:.0f}s"]
    done = await work(ctx, words, budget_seconds, "running the program again")
    if done.code not in (0, 1):
        raise error_of(done)
    outcome = json.loads(done.out)
    said = (
        "passed: the symptom is gone" if outcome["passed"] else f"did not pass: strike {outcome['strikes']}"
    )
    return given(standing(folder, said, outcome["text"], budget_seconds, done.seconds))
