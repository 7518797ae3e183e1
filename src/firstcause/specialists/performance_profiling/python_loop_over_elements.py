"""python-loop-over-elements: Python goes through a tensor element by element, one small operation each."""

from __future__ import annotations

import ast
from typing import Any

from firstcause.schema import Site
from firstcause.source.iterated import iterated
from firstcause.source.listed import listed_names
from firstcause.source.loops import loops_around
from firstcause.source.vectorised import together
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Change, Slow

CAUSE = "python-loop-over-elements"
LEAST_SHARE = 1 - 1 / speeds.FASTER
# One line of a loop has a part of the loop's time only.
LEAST_LINE = 0.1
WORDS = {
    "together": "with the loop's elements computed at once (torch.vmap)",
    "listed": "with the tensors made lists of numbers once, before the loop",
    "every": "with the tensors made lists of numbers once, before the loop",
    "iterated": "with the loop going through lists of numbers in place of tensors",
}


def _mine(examination: Examination) -> Facts:
    measured = speeds.pace(examination)
    if not measured.get("stacks") or examination.project is None or speeds.repeated(examination):
        return {}
    found: list[Facts] = []
    for row in speeds.lines(measured):
        module = examination.project.module(row["file"])
        if row["share"] < LEAST_LINE or row["called"] > 0.5 * row["share"] or module is None:
            continue
        for statement in loops_around(module, row["line"]):
            if speeds.trains(
                measured, row["file"], statement.lineno, statement.end_lineno or statement.lineno
            ):
                continue
            share = speeds.share_of(
                measured, row["file"], statement.lineno, statement.end_lineno or statement.lineno
            )
            ways = _ways(statement) if share >= LEAST_SHARE else []
            if ways and not any(f["line"] == statement.lineno for f in found):
                found.append(_facts(row, statement, ways) | {"share": share})
    # The outermost loop that can be written otherwise takes the inner ones with it.
    return max(found, key=lambda f: (f["share"], f["last"] - f["line"])) if found else {}


def _ways(statement: ast.stmt) -> list[str]:
    ways = ["together"] if together(statement) is not None else []
    if isinstance(statement, ast.For):
        ways += ["listed"] if listed_names(statement) else []
        if not ways and listed_names(statement, every=True):
            ways = ["every"]
        ways += ["iterated"] if not ways and iterated(statement) is not None else []
    return ways


def _facts(row: Facts, statement: ast.stmt, ways: list[str]) -> Facts:
    return {
        "file": row["file"],
        "line": statement.lineno,
        "column": statement.col_offset,
        "last": statement.end_lineno or statement.lineno,
        "kind": "run",
        "hot": row["line"],
        "share": row["share"],
        "ways": ways,
    }


def _told(examination: Examination, loop: Facts) -> str:
    place = _site(examination, loop)
    return (
        f"the loop over elements at `{place.text if place else ''}` takes {100 * loop['share']:.0f} % of the steps' time, one "
        "small operation after the other"
    )


def _site(examination: Examination, loop: Facts) -> Site | None:
    module = examination.project.module(loop["file"]) if examination.project is not None else None
    if module is None:
        return None
    inner: Any = [n for n in module.nodes(ast.For) if n.lineno <= loop["hot"] <= (n.end_lineno or n.lineno)]
    inner = [n for n in inner if n.lineno >= loop["line"]]
    line = max((n.lineno for n in inner), default=loop["line"])
    return speeds.site_at(examination, loop["file"], line)


def _changes(examination: Examination, loop: Facts) -> list[Change]:
    keys = ("file", "line", "column", "last", "kind")
    return [Change(WORDS[w], ({k: loop[k] for k in keys} | {"number": 0, "how": w},)) for w in loop["ways"]]


def _known(examination: Examination, loop: Facts) -> Facts:
    return {k: v for k, v in loop.items() if k != "share"}


_FORM = Slow(CAUSE, _mine, _told, _site, _changes, _known)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts


def found(examination: Examination) -> Facts:
    """The loop that may be this cause, empty where there is none."""
    return _FORM.own(examination)
