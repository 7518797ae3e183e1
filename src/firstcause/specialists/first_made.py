"""The line of the program at which data first held a bad value, by a watched run of its preparation."""

from __future__ import annotations

from firstcause.lab.watching import watch
from firstcause.schema import Evidence, Site
from firstcause.specialists.examination import Examination, Facts

AGAIN = "the preparation of the data once more, line by line: diagnose with --yes"
# Of fewer rows all may be bad records.
LEAST_ROWS = 8


def first_made(examination: Examination) -> Facts | str:
    """The one line that made whole columns bad out of good values; or why it is not known. Watched once a failure."""
    return examination.once("first_made", lambda: _watched(examination))


def _watched(examination: Examination) -> Facts | str:
    seen = _seen(examination)
    if isinstance(seen, str):
        return seen
    made = [e for e in seen["events"] if e["whole_columns"] and not e["derived"]]
    lines = {(e["site"]["file"], e["site"]["line"]): e for e in reversed(made)}
    if not lines:
        return f"no line of the program was seen to make a whole column bad ({seen['ended']})"
    if len(lines) > 1:
        return f"{len(lines)} lines of the program make whole columns bad"
    found: Facts = next(iter(lines.values()))
    return found


def divided_in_program(examination: Examination) -> Facts | str | None:
    """The one line of the program that divided by 0 to make a matrix bad before the loop; why it is not known; or None.

    None where what is bad may be records, some rows of a table, or whole columns, which ``first_made`` is for, and where
    nothing was seen to be divided by 0.
    """
    root = examination.root
    if root is None or root["op"] != "source" or root.get("whole_columns") or "parameter" in root["origin"]:
        return None
    shape = root["output"]["shape"] or []
    if len(shape) != 2 or shape[0] < LEAST_ROWS or not (shape[0] == shape[1] or root["rows"] == shape[0]):
        return None
    if examination.lab is None:
        return AGAIN
    seen = _seen(examination)
    if isinstance(seen, str):
        return seen
    first = {(e["site"]["file"], e["site"]["line"]): e for e in reversed(seen["events"]) if not e["derived"]}
    if not any(e["divided"] for e in first.values()):
        return None
    if len(first) > 1:
        return f"{len(first)} lines of the program make bad values of good ones"
    if not any(e["shape"] == shape for e in seen["events"]):
        return f"no line of the program was seen to make a matrix of shape {shape} bad ({seen['ended']})"
    found: Facts = next(iter(first.values()))
    return found


def _seen(examination: Examination) -> Facts | str:
    lab = examination.lab
    if lab is None:
        return AGAIN
    seen: Facts | str = examination.once("watched", lambda: watch(lab))
    return seen


def evidence(examination: Examination, made: Facts, supports: bool) -> tuple[Evidence, Site | None]:
    """What the watched run saw at that line, and the line."""
    site = examination.site(made["site"])
    columns = ", ".join(map(str, made["columns"]))
    text = f"column {columns} of a value of shape {made['shape']} is first bad after {site}, in all {made['rows']} rows"
    if not made["whole_columns"]:
        text = f"{made['bad']} elements of a value of shape {made['shape']} are first bad after {site}"
    zero = made["divided"][0] if made["divided"] else None
    if zero is not None:
        text += (
            f"; it divides by {zero['text']}, of which {zero['zeros']} of {zero['elements']} elements are 0"
        )
    else:
        text += "; nothing that the line reads is bad, and it divides by no 0"
    values = {k: made[k] for k in ("shape", "bad", "rows", "columns", "divided")}
    return Evidence("replay", supports, text, values, site), site
