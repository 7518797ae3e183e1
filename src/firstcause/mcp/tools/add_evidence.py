"""``add_evidence``: an observation of the agent's, kept beside what was measured; it settles nothing by itself."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult

from firstcause.errors import InputError
from firstcause.mcp.answers import CaseAnswer, given
from firstcause.mcp.cases import required, standing
from firstcause.mcp.contributions import BY, store, with_evidence
from firstcause.mcp.refusing import refusing
from firstcause.schema import Evidence

LONGEST = 1000


@refusing
async def add_evidence(
    cause: str, observation: str, supports: bool, case: str = ""
) -> Annotated[CallToolResult, CaseAnswer]:
    """Keep an observation for or against a cause (a slug of the catalogue).

    It is marked as the agent's, and never confirms or refutes: only run_probe settles a hypothesis.
    """
    if not observation.strip() or len(observation) > LONGEST:
        message = f"the observation has {len(observation.strip())} characters"
        raise InputError(
            "observation-length", message, f"say in 1 to {LONGEST} characters what was seen, with its number"
        )
    folder, _ = required(case, "add_evidence")
    evidence = Evidence("observation", supports, f"an agent observed: {observation.strip()}", {"by": BY})
    with folder.writing() as writer:
        diagnosis = writer.progress.case.diagnosis if writer.progress else None
        assert diagnosis is not None
        store(writer, with_evidence(diagnosis, cause, evidence))
    way = "for" if supports else "against"
    return given(
        standing(folder, f"kept as an observation {way} {cause}; the status of {cause} is unchanged")
    )
