"""Gate 4: what must be known and answered before a patch may touch the user's files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from firstcause.errors import GateError
from firstcause.fix.patch import parse
from firstcause.schema import SECTIONS, Diagnosis, Symptom, to_plain

# Letters and digits that nobody takes for one another.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True)
class Question:
    """One question of the gate: its key, its text, the answer that lets the approval go on, the other one."""

    key: str
    text: str
    accepts: str
    otherwise: str


def diagnosis_hash(diagnosis: Diagnosis) -> str:
    """The sha256 of the diagnosis in canonical form: what an approval is bound to."""
    plain = json.dumps(to_plain(diagnosis), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(plain.encode("ascii")).hexdigest()


def diff_hash(diagnosis: Diagnosis) -> str:
    """The sha256 of the diagnosis's diff, empty where it proposes none."""
    diff = diagnosis.fix.diff if diagnosis.fix else ""
    return hashlib.sha256(diff.encode("utf-8", "surrogatepass")).hexdigest()


def approval_code(diagnosis: Diagnosis, nonce: str) -> str:
    """Six characters to type back; they differ for every diagnosis, diff and showing."""
    seed = f"{diagnosis_hash(diagnosis)}:{diff_hash(diagnosis)}:{nonce}"
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big")
    characters = []
    for _ in range(6):
        number, index = divmod(number, len(_ALPHABET))
        characters.append(_ALPHABET[index])
    return "".join(characters)


def require_ready(diagnosis: Diagnosis | None) -> Diagnosis:
    """The diagnosis, if it may be approved: established, six sections filled, a diff that can be read.

    Raises ``GateError`` naming what is missing.
    """
    if diagnosis is None or diagnosis.status != "established":
        missing = f": {diagnosis.missing}" if diagnosis and diagnosis.missing else ""
        hint = "get that evidence, then: firstcause diagnose"
        raise GateError("cause-not-established", f"no cause is established yet{missing}", hint)
    empty = [section for section in SECTIONS if not diagnosis.sections.get(section, "").strip()]
    if empty:
        raise GateError("sections-missing", f"the diagnosis lacks {', '.join(empty)}", "firstcause diagnose")
    if diagnosis.fix is None or not diagnosis.fix.diff.strip():
        message = f"no patch is proposed for {diagnosis.cause}"
        raise GateError("fix-missing", message, "change the code by hand")
    parse(diagnosis.fix.diff)
    return diagnosis


def describe(symptom: Symptom | None) -> str:
    """A symptom in one line: its message, its step and its place."""
    if symptom is None:
        return "no symptom was recorded"
    step = f" at step {symptom.step}" if symptom.step is not None else ""
    return f"{symptom.message.rstrip('.')}{step}" + (f" ({symptom.site})" if symptom.site else "")


def questions(diagnosis: Diagnosis) -> tuple[Question, ...]:
    """The three questions of the gate in this case's own facts, in order."""
    fix = diagnosis.fix
    size = "no line"
    if fix:
        patches = parse(fix.diff)
        tags = [line.tag for patch in patches for hunk in patch.hunks for line in hunk.lines]
        size = f"lines removed {tags.count('-')}, added {tags.count('+')}, in {', '.join(p.path for p in patches)}"
    left = fix.does_not_fix if fix else ""
    changed = fix.changes if fix else ""
    sections = diagnosis.sections
    return (
        Question(
            "symptom",
            f"Recorded: {describe(diagnosis.symptom)}. Is this what you see (y), or another symptom (n)?",
            "y",
            "the symptom is another one",
        ),
        Question(
            "scope",
            f"The fix is targeted: {size}. It leaves: {_one(left or sections['What This Fix Will NOT Fix'])} "
            "A broader fix would take that in too, and change more that has to be checked. "
            "Targeted as shown (t), or broader (b)?",
            "t",
            "a broader fix is wanted",
        ),
        Question(
            "side-effect",
            f"Afterwards: {_one(changed or sections['What This Fix Will Change'])} "
            "Is this acceptable (y), or not (n)?",
            "y",
            "the side effect is not acceptable",
        ),
    )


def _one(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else line + "."


def require_answers(diagnosis: Diagnosis, answers: Mapping[str, str]) -> None:
    """Raises ``GateError`` unless each of the three questions has the answer that lets the approval go on."""
    for question in questions(diagnosis):
        answer = answers.get(question.key)
        if answer is None:
            raise GateError("question-open", f"no answer to: {question.text}", "firstcause case approve")
        if answer != question.accepts:
            hint = f'firstcause case reject --because "{question.otherwise}: …"'
            raise GateError("not-approved", f"not approved: {question.otherwise}", hint)
