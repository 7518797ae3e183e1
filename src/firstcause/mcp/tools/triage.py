"""``triage``: where an error, a log or a question belongs."""

from __future__ import annotations

import io
import time
from typing import Annotated

import anyio.to_thread
from mcp.types import CallToolResult

from firstcause.errors import InputError
from firstcause.mcp.answers import Step, TriageAnswer, given
from firstcause.mcp.refusing import refusing
from firstcause.triage.conclude import conclude
from firstcause.triage.read import read

# A longer log belongs into a file, which the command line reads as a stream.
LONGEST = 2_000_000


def pasted(text: str) -> bytes:
    """A text as bytes; raises ``InputError`` where it is longer than what a call should carry."""
    if len(text) > LONGEST:
        message = f"the text has {len(text)} characters, and {LONGEST} are read"
        raise InputError("triage-which", message, "firstcause triage FILE reads a log of any length")
    return text.encode("utf-8", "replace")


@refusing
async def triage(text: str) -> Annotated[CallToolResult, TriageAnswer]:
    """Say where an error, a log or a question belongs, and what to look at first. Never names a cause."""
    content = pasted(text)
    began = time.monotonic()
    found = await anyio.to_thread.run_sync(lambda: conclude(read(io.BytesIO(content))))
    clear = found.action == "route"
    step = Step(
        tool="open_case",
        arguments={"script": "the script that fails"},
        why="record the failure, and settle it",
    )
    if not clear:
        step = Step(
            person=found.question or found.handover or "give the text of the error",
            why="triage is not clear yet",
        )
    answer = TriageAnswer(
        said=f"{found.action}: {', '.join(found.routes) or 'no route yet'}",
        next=step,
        seconds=round(time.monotonic() - began, 2),
        action=found.action,
        routes=list(found.routes),
        patterns=list(found.order or found.patterns),
        suspicions=[
            {"cause": s.cause, "why": s.why, "confirms": s.confirms, "refutes": s.refutes}
            for s in found.suspicions
        ],
        gather=list(found.gather),
        question=found.question or "",
    )
    return given(answer)
