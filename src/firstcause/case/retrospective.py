"""The retrospective of a case as Markdown: what was believed, what was measured, what it taught."""

from __future__ import annotations

import re
from collections.abc import Iterator

from firstcause.case.classes import LETTERS, class_of
from firstcause.case.progress import Attempt, Progress
from firstcause.case.questions import describe
from firstcause.schema import Diagnosis, Hypothesis

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def retrospective(progress: Progress) -> str:
    """The Markdown text for a case, newline at its end, control codes and markup of others disarmed."""
    return _CONTROL.sub("", "\n".join(_lines(progress))).rstrip("\n") + "\n"


def _lines(progress: Progress) -> Iterator[str]:
    case, diagnosis = progress.case, progress.case.diagnosis
    # A fix that passed counts for the diagnosis that it belongs to, not for one that came after it.
    last = progress.attempts[-1] if progress.attempts else None
    same = last is not None and diagnosis is not None and last.approach.cause == diagnosis.cause
    verified = same and last is not None and last.passed is True
    yield f"# {case.id}"
    yield ""
    yield f"Run {case.run or 'none: it began with a text'}, opened {case.opened}, closed {progress.updated}."
    outcome = f"Fixed and verified: {progress.verification}" if verified else "Closed without a verified fix."
    yield " ".join(outcome.split())
    yield from _section("Symptom", [describe(diagnosis.symptom if diagnosis else None) + "."])
    if verified and diagnosis:
        yield from _section("Cause", [_cause(diagnosis), "", diagnosis.sections["Why This Happens"]])
    yield from _section("Believed first", [_believed(progress.first)])
    hypotheses = diagnosis.hypotheses if diagnosis else ()
    confirmed = [h for h in hypotheses if diagnosis and h.cause == diagnosis.cause]
    others = [h for h in hypotheses if h not in confirmed]
    yield from _section("Evidence", _evidence(confirmed))
    yield from _section("Refuted alternatives", _evidence([h for h in others if h.status == "refuted"]))
    yield from _section("Left open", _evidence([h for h in others if h.status != "refuted"]))
    if verified and diagnosis and diagnosis.fix:
        yield from _section("Fix", [diagnosis.fix.summary])
        yield from ("", *_fenced(diagnosis.fix.diff))
    yield from _section("Symptoms", _symptoms(progress))
    yield from _section("Failed attempts", _attempts((*progress.inherited, *progress.attempts)))
    yield from _section("Answers", _answers(progress))
    yield from _section("Rejections", [f"- {r.by}, {r.time}: {r.text}" for r in progress.rejections])
    yield from _section("Lesson", [progress.lesson])


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"## {title}"
        yield ""
        yield from (line.rstrip("\n").replace("&", "&amp;").replace("<", "&lt;") for line in lines)


def _cause(diagnosis: Diagnosis) -> str:
    where = f" at {diagnosis.site}" if diagnosis.site else ""
    kind = class_of(diagnosis)
    return f"{diagnosis.cause}{where}, class {LETTERS[kind]} ({kind}). {diagnosis.sections['Root Cause']}"


def _believed(first: Diagnosis | None) -> str:
    ranked = sorted(first.hypotheses, key=lambda h: h.rank) if first else []
    if not ranked:
        return "Nothing was ranked."
    return f"{ranked[0].cause}, ranked first of {len(ranked)}; then {ranked[0].status}."


def _evidence(hypotheses: list[Hypothesis]) -> list[str]:
    lines = []
    for h in hypotheses:
        facts = [f"{e.kind}, {'for' if e.supports else 'against'}: {e.text}" for e in h.evidence]
        facts += [f"missing: {h.missing}"] if h.missing else []
        lines += [f"- {h.cause} ({h.status}): " + ("; ".join(facts) or "no evidence was taken")]
    return lines


def _attempts(attempts: tuple[Attempt, ...]) -> list[str]:
    failed = [attempt for attempt in attempts if attempt.passed is not True]
    if not failed:
        return []
    cells = [(a.time, a.approach.cause, a.summary, a.lesson) for a in failed]
    rows = ["| " + " | ".join(map(_cell, row)) + " |" for row in cells]
    return ["| when | cause | what was tried | what it taught |", "| --- | --- | --- | --- |", *rows]


def _symptoms(progress: Progress) -> list[str]:
    if len(progress.symptoms) < 2:
        return []
    return [f"- {describe(t.symptom)}: {t.outcome}" for t in progress.symptoms]


def _answers(progress: Progress) -> list[str]:
    given = [a.approval for a in progress.attempts if a.approval is not None]
    lines = [
        f"- {a.by}, {a.time}: {asked} {a.answers.get(key, '')}"
        for a in given
        for key, asked in a.asked.items()
    ]
    return lines + [f"- {r.by}, {r.time}: {r.text}" for r in progress.declined]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _fenced(diff: str) -> Iterator[str]:
    fence = "```"
    while fence in diff:
        fence += "`"
    yield from (f"{fence}diff", diff.rstrip("\n"), fence)
