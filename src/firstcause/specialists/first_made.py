"""The line of the program at which data first held a bad value, by a watched run of its preparation."""

from __future__ import annotations

from firstcause.lab.watching import watch
from firstcause.schema import Evidence, Site
from firstcause.specialists.examination import Examination, Facts


def first_made(examination: Examination) -> Facts | str:
    """The one line that made whole columns bad out of good values; or why it is not known. Watched once a failure."""
    return examination.once("first_made", lambda: _watched(examination))


def _watched(examination: Examination) -> Facts | str:
    if examination.lab is None:
        return "the preparation of the data once more, line by line: diagnose with --yes"
    seen = watch(examination.lab)
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


def evidence(examination: Examination, made: Facts, supports: bool) -> tuple[Evidence, Site | None]:
    """What the watched run saw at that line, and the line."""
    site = examination.site(made["site"])
    columns = ", ".join(map(str, made["columns"]))
    text = f"column {columns} of a value of shape {made['shape']} is first bad after {site}, in all {made['rows']} rows"
    zero = made["divided"][0] if made["divided"] else None
    if zero is not None:
        text += (
            f"; it divides by {zero['text']}, of which {zero['zeros']} of {zero['elements']} elements are 0"
        )
    else:
        text += "; nothing that the line reads is bad, and it divides by no 0"
    values = {k: made[k] for k in ("shape", "bad", "rows", "columns", "divided")}
    return Evidence("replay", supports, text, values, site), site
