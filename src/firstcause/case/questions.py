"""The three questions of the gate, in this case's own facts, and the answers that let an approval go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firstcause import catalog
from firstcause.case.classes import LETTERS, class_of, has_patch
from firstcause.errors import FirstcauseError, GateError
from firstcause.fix.patch import parse
from firstcause.schema import Diagnosis, Symptom


@dataclass(frozen=True)
class Question:
    """One question of the gate: its key, its text, the answer that lets the approval go on, the other one."""

    key: str
    text: str
    accepts: str
    otherwise: str


def describe(symptom: Symptom | None) -> str:
    """A symptom in one line: its message, its step and its place."""
    if symptom is None:
        return "no symptom was recorded"
    step = f" at step {symptom.step}" if symptom.step is not None else ""
    return f"{symptom.message.rstrip('.')}{step}" + (f" ({symptom.site})" if symptom.site else "")


def questions(diagnosis: Diagnosis, others: Sequence[Symptom] = ()) -> tuple[Question, ...]:
    """The three questions of the gate in this case's own facts, in order; ``others`` are its further symptoms."""
    beside = f" Beside it: {_one('; '.join(map(describe, others)))}" if others else ""
    fix, sections = diagnosis.fix, diagnosis.sections
    left = _one((fix.does_not_fix if fix else "") or sections["What This Fix Will NOT Fix"])
    changed = _one((fix.changes if fix else "") or sections["What This Fix Will Change"])
    return (
        Question(
            "symptom",
            f"Recorded: {_one(describe(diagnosis.symptom))}{beside} Measured: {_one(_measured(diagnosis))} "
            "Is this what you see (y), or another symptom (n)?",
            "y",
            "the symptom is another one",
        ),
        Question(
            "scope",
            f"The fix is targeted: {_size(diagnosis)} It leaves: {left} {_broader(diagnosis)} "
            "Targeted as shown (t), or broader (b)?",
            "t",
            "a broader fix is wanted",
        ),
        Question(
            "side-effect",
            f"Afterwards: {changed} Is this acceptable (y), or not (n)?",
            "y",
            "the side effect is not acceptable",
        ),
    )


def require_answers(diagnosis: Diagnosis, answers: Mapping[str, str]) -> None:
    """Raises ``GateError`` unless each of the three questions has the answer that lets the approval go on."""
    for question in questions(diagnosis):
        answer = answers.get(question.key)
        if answer is None:
            raise GateError("question-open", f"no answer to: {question.text}", "firstcause case approve")
        if answer != question.accepts:
            hint = f'firstcause case reject --because "{question.otherwise}: …"'
            raise GateError("not-approved", f"not approved: {question.otherwise}", hint)


def _measured(diagnosis: Diagnosis) -> str:
    """The strongest fact for the cause, or what the diagnosis says of it."""
    mine = [h for h in diagnosis.hypotheses if h.cause == diagnosis.cause]
    facts = [e.text for h in mine for e in h.evidence if e.supports]
    return facts[-1] if facts else diagnosis.sections["Root Cause"]


def _size(diagnosis: Diagnosis) -> str:
    if not has_patch(diagnosis) or diagnosis.fix is None:
        kind = class_of(diagnosis)
        return f"no patch, a change of the {kind} by hand (class {LETTERS[kind]}): {_one(diagnosis.sections['Proposed Fix'])}"
    patches = parse(diagnosis.fix.diff)
    tags = [line.tag for patch in patches for hunk in patch.hunks for line in hunk.lines]
    return (
        f"lines removed {tags.count('-')}, added {tags.count('+')}, in {', '.join(p.path for p in patches)}."
    )


def _broader(diagnosis: Diagnosis) -> str:
    """The second option where the catalogue has one, with what it costs; else that there is none."""
    try:
        known = catalog.cause(diagnosis.cause or "")
    except FirstcauseError:
        return "A broader fix would take that in too, and change more that has to be checked."
    summary = diagnosis.fix.summary if diagnosis.fix else diagnosis.sections["Proposed Fix"]
    if known.fix in summary:
        return "No other fix is known for this cause; a broader one would be a redesign, to be checked anew."
    return f"The broader way, by hand: {_one(known.fix)} It takes more in, and each line of it has to be checked anew."


def _one(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else line + "."
