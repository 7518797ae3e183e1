"""``open_case``: a failure recorded, diagnosed, and kept as a case."""

from __future__ import annotations

import io
import json
import os
import tempfile
from typing import Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from firstcause.case import CaseFolder, find_case, readable_cases
from firstcause.case.from_text import LARGEST, open_from_text
from firstcause.errors import InputError
from firstcause.mcp.answers import CaseAnswer, Step, given
from firstcause.mcp.cases import standing
from firstcause.mcp.places import inside
from firstcause.mcp.refusing import Refusal, refusing
from firstcause.mcp.tools.triage import pasted
from firstcause.mcp.working import error_of, work
from firstcause.record.folder import HOME
from firstcause.record.supervise import afterwards, anew, launch
from firstcause.triage.read import read


@refusing
async def open_case(
    ctx: Context[Any, Any],
    run: str = "last",
    script: str = "",
    arguments: list[str] | None = None,
    text: str = "",
    budget_seconds: float = 300.0,
) -> Annotated[CallToolResult, CaseAnswer]:
    """Diagnose a recorded run and open its case, or take up the one that it has.

    With `script`, a Python file of the project, it is run with `arguments` and recorded first. The diagnosis may run
    the program again in sealed copies. With `text`, an error or a log in somebody's words, the case begins before there
    is a run; a later call with the script goes on with it. Answers the hypotheses with what was measured for and against each.
    """
    if text:
        return given(await anyio.to_thread.run_sync(lambda: _from_text(text)))
    spent = 0.0
    if script:
        with tempfile.TemporaryDirectory(prefix="firstcause-") as scratch:
            answer = os.path.join(scratch, "run.json")
            program = [launch.python(), inside(script), *(arguments or [])]
            recorded = await work(ctx, anew.words(program, answer), budget_seconds, f"recording {script}")
            if not os.path.exists(answer):
                raise error_of(recorded)
            folder = anew.run_of(answer, os.getcwd())
        spent = recorded.seconds
    else:
        folder = afterwards.found(run, os.getcwd())
    inside(folder.path)
    left = max(budget_seconds - spent, 1.0)
    words = ["diagnose", folder.path, "--yes", "-q", "--json", "-", "--budget", f"{left:.0f}s"]
    done = await work(ctx, words, left, f"diagnosing {folder.run().id}")
    if done.code not in (0, 3):
        raise error_of(done)
    said = told(json.loads(done.out))
    case = case_of(folder.run().id)
    if case is None:
        step = Step(tool="triage", why="the run shows no failure; triage what is seen, in the user's words")
        raise Refusal("no-symptom", f"run {folder.run().id}: {said}; no case is needed", "a symptom", step)
    return given(standing(case, said, budget=budget_seconds, seconds=spent + done.seconds))


def _from_text(text: str) -> CaseAnswer:
    content = pasted(text)
    home = os.path.join(os.getcwd(), HOME)
    try:
        case = open_from_text(home, content[: LARGEST + 1], read(io.BytesIO(content), "the text"))
    except InputError as error:
        step = Step(tool="triage", arguments={"text": "the whole error"}, why=error.hint)
        raise Refusal(error.slug, error.message, "a symptom", step) from error
    return standing(find_case(home, case.id), "begun with a text: nothing was measured yet")


def told(diagnosis: dict[str, Any]) -> str:
    """A diagnosis in one sentence."""
    site = diagnosis.get("site") or {}
    if diagnosis["status"] == "established":
        where = f" at {site['file']}:{site['line']}" if site else ""
        return f"established: {diagnosis['cause']}{where}"
    return str(diagnosis["status"]).replace("-", " ")


def case_of(run: str) -> CaseFolder | None:
    """The newest case of a run."""
    known = readable_cases(os.path.join(os.getcwd(), HOME))
    return next((folder for folder, progress in known if progress.case.run == run), None)
