"""How a run ended on one line: the last of its log, for ``grep``, a mail or a chat."""

from __future__ import annotations

from firstcause.report.plain import one_line
from firstcause.report.terminal import ending, seen
from firstcause.schema import Run

LONGEST = 300


def run_line(run: Run, path: str) -> str:
    """``firstcause: failed: nan: … · exit code 0 after 12.0 s · and 1 more · record PATH``."""
    if run.symptoms:
        first = f"{run.symptoms[0].kind}: {seen(run.symptoms[0])}"
        said = f"failed: {first if len(first) <= LONGEST else first[: LONGEST - 1] + '…'}"
    elif run.exit_code not in (0, None) or run.signal is not None:
        said = "failed"
    else:
        said = "no symptom" if run.observed else "not observed, no symptom"
    parts = [said, ending(run)]
    if len(run.symptoms) > 1:
        parts.append(_number(len(run.symptoms) - 1, "more symptom"))
    if run.notes:
        parts.append(_number(len(run.notes), "note"))
    parts.append(f"record {one_line(path)}")
    return "firstcause: " + " · ".join(parts)


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
