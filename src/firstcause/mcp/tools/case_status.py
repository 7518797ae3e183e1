"""``case_status``: where a case stands, and what may be done next."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult

from firstcause.mcp.answers import CaseAnswer, given
from firstcause.mcp.cases import chosen, standing
from firstcause.mcp.refusing import refusing


@refusing
async def case_status(case: str = "") -> Annotated[CallToolResult, CaseAnswer]:
    """Say where a case stands and which call comes next; enough to go on with after all context was lost."""
    folder = chosen(case)
    state = folder.progress().case.state
    return given(standing(folder, f"case {folder.id} is {state}"))
