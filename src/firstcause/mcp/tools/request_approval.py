"""``request_approval``: asks the person, by a form where the client shows one, and else by the way to the terminal."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from firstcause.case import (
    CaseFolder,
    Codes,
    Progress,
    approve,
    decline,
    diagnosis_hash,
    diff_hash,
    project_of,
    questions_of,
    require_ready,
)
from firstcause.case.unrecorded import changed_since_run
from firstcause.errors import FirstcauseError
from firstcause.mcp.answers import CaseAnswer, Step, given
from firstcause.mcp.cases import required, standing
from firstcause.mcp.refusing import Refusal, refusing

_CODES = Codes()


class Answers(BaseModel):
    """A person's answers to the three questions, and the code that was shown with them."""

    symptom: Literal["y", "n"] = Field(description="question 1: y, or n for another symptom")
    scope: Literal["t", "b"] = Field(description="question 2: t for targeted as shown, or b for broader")
    side_effect: Literal["y", "n"] = Field(
        description="question 3: y where what changes is acceptable, else n"
    )
    code: str = Field(description="the code that is shown, to approve this diff for these files, once")


class NoForm(BaseModel):
    """The client shows no form, or there is nothing to ask."""


async def ask(ctx: Context[Any, Any], case: str = "") -> Elicit[Answers] | NoForm:
    """The three questions and the code, where the client can show them to a person."""
    capabilities = ctx.client_capabilities
    form = capabilities.elicitation if capabilities is not None else None
    if form is None or (form.form is None and form.url is not None):
        return NoForm()
    try:
        folder, progress = required(case, "request_approval")
        _require_recorded(folder)
        diagnosis = require_ready(progress.case.diagnosis)
    except (Refusal, FirstcauseError):
        # The tool itself meets the same, and says it.
        return NoForm()
    numbered = [f"{n}. {q.text}" for n, q in enumerate(questions_of(progress), 1)]
    diff = diagnosis.fix.diff if diagnosis.fix else ""
    title = f"{diagnosis.cause} at {diagnosis.site}, case {folder.id}"
    code = f"Type {_CODES.shown(progress)} to approve this diff for these files, once."
    return Elicit("\n\n".join([title, diff, *numbered, code]), Answers)


@refusing
async def request_approval(
    ctx: Context[Any, Any],
    answered: Annotated[ElicitationResult[Answers], Resolve(ask)],
    case: str = "",
) -> Annotated[CallToolResult, CaseAnswer]:
    """Ask the person to approve the proposed fix. Only the person's own act approves; this tool cannot."""
    folder, progress = required(case, "request_approval")
    _require_recorded(folder)
    if not isinstance(answered, AcceptedElicitation):
        return given(_by_terminal(folder, f"{answered.action}: declined, or the client showed nobody a form"))
    if not isinstance(answered.data, Answers):
        return given(_by_terminal(folder, "this client shows no form"))
    return given(_settled(folder, progress, answered.data, _client(ctx)))


def _require_recorded(folder: CaseFolder) -> None:
    """Raises ``Refusal`` where a file of the program is no longer the one that was diagnosed."""
    changed = changed_since_run(folder)
    if changed:
        shown = ", ".join(f"{one.path} {one.how}" for one in changed[:3])
        message = f"{shown} since the run was recorded, and nobody approved that: the diagnosis is of another program"
        step = Step(
            tool="open_case",
            arguments={"script": "the script"},
            why="put it back, or record the program anew",
        )
        raise Refusal("files-changed", message, "the program as it was diagnosed", step)


def _settled(folder: CaseFolder, progress: Progress, given_answers: Answers, by: str) -> CaseAnswer:
    diagnosis = require_ready(progress.case.diagnosis)
    by_key = {
        "symptom": given_answers.symptom,
        "scope": given_answers.scope,
        "side-effect": given_answers.side_effect,
    }
    for question in questions_of(progress):
        if by_key[question.key] != question.accepts:
            decline(folder, question, by_key[question.key], by)
            return _by_terminal(
                folder,
                f"not approved: {question.otherwise}",
                f"firstcause case reject {folder.id} --because TEXT",
            )
    if not _CODES.typed(given_answers.code, progress):
        return _by_terminal(folder, "not approved: the code is another one")
    approve(folder, diagnosis_hash(diagnosis), diff_hash(diagnosis), by, by_key)
    return standing(folder, f"approved by a person through a form of {by}, for this diff, once")


def _by_terminal(folder: CaseFolder, said: str, command: str = "") -> CaseAnswer:
    """The way that is always open: the person types at a terminal, and the agent asks for the state afterwards."""
    answer = standing(folder, f"{said}; not approved yet")
    person = command or f"cd {shlex.quote(project_of(folder.path))} && firstcause case approve {folder.id}"
    why = "show the person this command (or `firstcause view` and its page) and the diff, wait, then call case_status"
    return answer.model_copy(update={"next": Step(person=person, why=why)})


def _client(ctx: Context[Any, Any]) -> str:
    params = ctx.session.client_params
    return (
        f"the client {params.client_info.name}"
        if params is not None and params.client_info
        else "an unnamed client"
    )
