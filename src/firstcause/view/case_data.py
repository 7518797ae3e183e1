"""What the page shows of a case, as JSON-ready data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firstcause.case import (
    LETTERS,
    LIMIT,
    MEANING,
    CaseFolder,
    Progress,
    class_of,
    counsel,
    describe,
    has_patch,
    instructions,
    probes_of,
    project_of,
    questions_of,
)
from firstcause.case.history import read
from firstcause.case.retrospective import retrospective
from firstcause.errors import InputError, RecordError
from firstcause.fix.patch import Hunk, parse
from firstcause.record.folder import RunFolder
from firstcause.report.hypotheses import decision, ranked
from firstcause.report.json_file import case_to_json
from firstcause.report.plain import visible
from firstcause.schema import SECTIONS, Diagnosis, Hypothesis, Site

_AROUND = 8
_LARGEST = 4 << 20
# Shorter lists are figures of one value, and longer ones would not be read on a page.
_SHORTEST, _LONGEST = 4, 5000
_PLOTS = 6


def case_to_page(folder: CaseFolder) -> dict[str, Any]:
    """Everything of a case that a person looks at before approving; raises ``RecordError`` where it is damaged."""
    progress = folder.progress()
    diagnosis = progress.case.diagnosis
    return {
        **case_to_json(progress, probes_of(folder)),
        "kind": "case",
        "limit": LIMIT,
        "counsel": list(counsel(progress)),
        "meaning": _meaning(diagnosis),
        "by_hand": instructions(diagnosis)
        if diagnosis and diagnosis.cause and not has_patch(diagnosis)
        else "",
        "symptoms": [{"text": describe(t.symptom), "outcome": t.outcome} for t in progress.symptoms],
        "rows": [_hypothesis(h) for h in ranked(diagnosis.hypotheses)] if diagnosis else [],
        "ordered_sections": _sections(diagnosis),
        "source": _source(diagnosis.site if diagnosis else None, folder),
        "patch": _patch(diagnosis.fix.diff) if diagnosis and diagnosis.fix else [],
        "history": [
            {"time": e.time, "event": e.event, "text": _told(e.event, e.data)}
            for e in read(folder.path).events
        ],
        "questions": _questions(progress),
        "verification": progress.verification,
        "retrospective": retrospective(progress) if progress.case.state == "closed" else "",
    }


def _meaning(diagnosis: Diagnosis | None) -> str:
    if diagnosis is None or diagnosis.cause is None:
        return ""
    kind = class_of(diagnosis)
    return f"{LETTERS[kind]} {kind}: {MEANING[kind]}"


def _sections(diagnosis: Diagnosis | None) -> list[dict[str, str]]:
    said = diagnosis.sections if diagnosis else {}
    return [{"title": title, "text": said[title]} for title in SECTIONS if said.get(title, "").strip()]


def _questions(progress: Progress) -> list[dict[str, str]]:
    if progress.case.state != "diagnosed":
        return []
    return [
        {"key": q.key, "text": q.text, "accepts": q.accepts, "otherwise": q.otherwise}
        for q in questions_of(progress)
    ]


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    return {
        "cause": hypothesis.cause,
        "status": hypothesis.status,
        "rank": hypothesis.rank,
        "site": str(hypothesis.site) if hypothesis.site else "",
        "missing": hypothesis.missing,
        "decision": decision(hypothesis),
        "evidence": [
            {
                "kind": e.kind,
                "supports": e.supports,
                "text": e.text,
                "site": str(e.site) if e.site else "",
                "plots": list(_plots(e.values))[:_PLOTS],
            }
            for e in hypothesis.evidence
        ],
    }


def _plots(values: Mapping[str, Any], before: str = "") -> Iterator[dict[str, Any]]:
    """The lists of numbers among an evidence's values, by the names under which they lie."""
    for key, value in values.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _plots(value, f"{name}, ")
        elif _is_series(value):
            yield {
                "name": name,
                "values": [float(v) if isinstance(v, (int, float)) else None for v in value],
            }


def _is_series(value: Any) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    if not _SHORTEST <= len(value) <= _LONGEST:
        return False
    figures = [v for v in value if isinstance(v, (int, float)) and not isinstance(v, bool)]
    return len(figures) >= _SHORTEST and all(
        not isinstance(v, bool) and (isinstance(v, (int, float)) or v in ("nan", "inf", "-inf", None))
        for v in value
    )


def _source(site: Site | None, folder: CaseFolder) -> dict[str, Any] | None:
    """The line of the cause between its neighbours, as the file is now, or else as it was when the run was recorded.

    None where neither holds the line.
    """
    if site is None:
        return None
    places = [("as it is now", os.path.join(project_of(folder.path), site.file))]
    places += [("as it was recorded", path) for path in _recorded(site, folder)]
    for when, path in places:
        lines = _lines(path)
        if 1 <= site.line <= len(lines) and site.text.strip() in lines[site.line - 1]:
            first = max(1, site.line - _AROUND)
            return {
                "file": site.file,
                "when": when,
                "line": site.line,
                "first": first,
                "lines": [visible(line) for line in lines[first - 1 : site.line + _AROUND]],
            }
    return None


def _recorded(site: Site, folder: CaseFolder) -> Iterator[str]:
    record = RunFolder(folder.run_folder())
    try:
        run = record.run()
    except RecordError:
        # A record that was removed takes nothing away from the case.
        return
    for path, digest in (run.sources or {}).items():
        if digest and os.path.relpath(os.path.join(run.folder, path), run.folder) == os.path.normpath(
            site.file
        ):
            yield record.file("sources", os.path.basename(digest))


def _lines(path: str) -> list[str]:
    try:
        if os.path.getsize(path) > _LARGEST:
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")
    except OSError:
        # Removed or moved since: the page does without it.
        return []


def _patch(diff: str) -> list[dict[str, Any]]:
    """The diff by file with the lines' numbers, nothing of it hidden: this is what a person approves."""
    try:
        patches = parse(diff)
    except InputError:
        rows = [{"tag": " ", "number": n, "text": visible(t)} for n, t in enumerate(diff.split("\n"), 1)]
        return [{"path": "cannot be read as a patch", "rows": rows}] if diff.strip() else []
    found = []
    for patch in patches:
        shift = 0
        rows = []
        for hunk in patch.hunks:
            rows += list(_hunk(hunk, shift))
            shift += sum((line.tag == "+") - (line.tag == "-") for line in hunk.lines)
        found.append({"path": visible(patch.path), "rows": rows})
    return found


def _hunk(hunk: Hunk, shift: int) -> Iterator[dict[str, Any]]:
    old = hunk.start if hunk.count else hunk.start + 1
    new = old + shift
    for line in hunk.lines:
        yield {"tag": line.tag, "number": new if line.tag == "+" else old, "text": visible(line.text)}
        old += line.tag != "+"
        new += line.tag != "-"


def _told(event: str, data: Mapping[str, Any]) -> str:
    """What one event of the history says in a line."""
    keys = ("text", "because", "by", "answer", "lesson", "passed", "from", "run")
    if event == "hypotheses":
        diagnosis = data.get("diagnosis") or {}
        return f"{diagnosis.get('status', '')} {diagnosis.get('cause') or ''}".strip()
    if event == "characterised":
        return "; ".join(str(s.get("message", "")) for s in data.get("symptoms") or ())
    return ", ".join(
        f"{key} {data[key]}" for key in keys if key in data and not isinstance(data[key], (dict, list))
    )
