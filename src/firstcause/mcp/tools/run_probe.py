"""``run_probe``: a measurement, of evidence that the case holds or of a theory."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from firstcause.mcp.answers import CaseAnswer, given
from firstcause.mcp.cases import required, standing
from firstcause.mcp.contributions import carry_over, contributed
from firstcause.mcp.order import following
from firstcause.mcp.refusing import Refusal, refusing
from firstcause.mcp.tools.open_case import told
from firstcause.mcp.working import error_of, work


@refusing
async def run_probe(
    ctx: Context[Any, Any], case: str = "", theory: str = "", budget_seconds: float = 180.0
) -> Annotated[CallToolResult, CaseAnswer]:
    """Settle hypotheses by measuring: replays of the failing step, and experiments in sealed copies.

    `theory` is what is suspected, in words or as a slug of the catalogue; it is settled beside the rest, for or against.
    """
    folder, progress = required(case, "run_probe")
    if not progress.case.run:
        message = f"case {folder.id} began with a text, and there is no run yet to measure in"
        raise Refusal("run-missing", message, "a recorded run", following(progress))
    mine = contributed(progress.case.diagnosis)
    words = [
        "diagnose",
        folder.run_folder(),
        "--yes",
        "-q",
        "--json",
        "-",
        "--budget",
        f"{budget_seconds:.0f}s",
    ]
    words += [f"--theory={theory}"] if theory else []
    done = await work(ctx, words, budget_seconds, f"measuring for {theory or 'each hypothesis'}")
    if done.code not in (0, 3):
        raise error_of(done)
    carry_over(folder, mine)
    said = told(json.loads(done.out))
    about = (
        f"the theory {theory!r} was settled beside the rest"
        if theory
        else "each hypothesis was measured again"
    )
    return given(standing(folder, said, about, budget_seconds, done.seconds))
