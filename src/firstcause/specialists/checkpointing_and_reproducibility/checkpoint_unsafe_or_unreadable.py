"""checkpoint-unsafe-or-unreadable: a file holds objects that only their code can read, or it is not whole."""

from __future__ import annotations

import re

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "checkpoint-unsafe-or-unreadable"
REFUSED = "Weights only load failed"
_GLOBAL = re.compile(r"(?:Unsupported global: GLOBAL|GLOBAL) ([\w.]+)|Unsupported class ([\w.]+)")
_ABSENT = re.compile(r"Can't get attribute '(\w+)' on <module '([\w.]+)'")
# What torch and pickle say of a file that ends too early or is none of theirs.
DAMAGED = (
    "failed finding central directory",
    "failed reading zip archive",
    "Ran out of input",
    "invalid load key",
    "unexpected EOF",
    "pickle data was truncated",
)


def propose(examination: Examination) -> bool:
    return bool(_said(examination))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    said, site = _said(examination), examination.symptom.site
    if not said or site is None:
        return inconclusive(CAUSE, "the line that reads the file: it lies outside of the program's own code")
    if said["how"] == "damaged":
        text = f"{site} reads a file that is not whole: {said['words']}"
    else:
        text = f"{site} reads a file that holds {said['name']}, an object and no tensor or plain value: its class would run"
        text += " to read it" if said["how"] == "refused" else " to read it, and it is not there any more"
    return confirmed(CAUSE, site, Evidence("observation", True, text, said, site))


def facts(examination: Examination) -> Facts:
    site = examination.symptom.site
    return examination.place(vars(site) if site else None) | _said(examination)


def _said(examination: Examination) -> Facts:
    if examination.symptom.kind != "exception":
        return {}
    message = examination.symptom.message
    if REFUSED in message:
        found = _GLOBAL.search(message)
        return {"how": "refused", "name": (found[1] or found[2]).rstrip(".") if found else "an object"}
    absent = _ABSENT.search(message)
    if absent is not None:
        return {"how": "absent", "name": f"{absent[2]}.{absent[1]}"}
    words = next((w for w in DAMAGED if w in message), None)
    return {"how": "damaged", "name": "", "words": words} if words else {}
