"""Calls of the tools by the SDK's own client, in this process, and cases in each state to call them on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from case.samples import PROGRAM, diagnosis, project
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from firstcause.case import (
    CaseFolder,
    Verification,
    apply,
    approve,
    close,
    diagnosis_hash,
    diff_hash,
    find_case,
    open_case,
    verify,
)
from firstcause.case.folder import new_case_folder
from firstcause.mcp.server import server
from firstcause.schema import CASE_SCHEMA

ANSWERS = {"symptom": "y", "scope": "t", "side-effect": "y"}


def call(
    tool: str, mode: str = "auto", form: Callable[[str], ElicitResult] | None = None, **arguments: Any
) -> CallToolResult:
    """One call of one tool; ``form`` answers what a client would show to a person."""

    async def shown(context: Any, params: ElicitRequestParams) -> ElicitResult:
        assert form is not None
        return form(params.message)

    async def once() -> CallToolResult:
        async with Client(server(), mode=mode, elicitation_callback=shown if form else None) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(once())


def text(result: CallToolResult) -> str:
    (block,) = result.content
    return str(block.text)


def in_state(folder: Path, state: str) -> CaseFolder:
    """A project below ``folder`` with one case in a state."""
    root = str(project(folder))
    if state in ("open", "characterised"):
        case = new_case_folder(root, "nan")
        with case.writing() as writer:
            writer.append(
                "opened",
                id=case.id,
                run="r1",
                run_folder=".firstcause/runs/r1",
                schema=CASE_SCHEMA,
                inherited=[],
            )
            if state == "characterised":
                writer.append("characterised", symptoms=[])
        return case
    established = state != "hypotheses"
    made = (
        diagnosis()
        if established
        else diagnosis(status="not-established", cause=None, site=None, missing="a replay")
    )
    case = find_case(root, open_case(root, "r1", f"{root}/runs/r1", made).id)
    if state in ("hypotheses", "diagnosed"):
        return case
    for strike in range(3 if state == "stopped" else 1):
        approve(case, diagnosis_hash(made), diff_hash(made), "a test", ANSWERS)
        if state == "approved":
            return case
        apply(case, str(folder))
        if state == "fixed":
            return case
        passed = state != "stopped"
        verify(case, str(folder), lambda passed=passed: Verification(passed, "ran again"))
        if not passed:
            (folder / "train.py").write_text(PROGRAM)
        if state == "stopped" and strike < 2:
            # The same approach again, as an agent does that has nothing else.
            open_case(root, "r1", f"{root}/runs/r1", made)
            made = case.progress().case.diagnosis or made
    if state == "closed":
        close(case, "a lesson")
    return case


def history(case: CaseFolder) -> bytes:
    with open(os.path.join(case.path, "history.jsonl"), "rb") as file:
        return file.read()
