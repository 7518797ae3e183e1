"""python-loop-over-elements: Python goes through a tensor element by element, one small operation each."""

from __future__ import annotations

import ast
from typing import Any

from firstcause.schema import Site
from firstcause.source.iterated import iterated
from firstcause.source.listed import listed_names
from firstcause.source.module import Module
from firstcause.source.vectorised import together
from firstcause.specialists import speeds
from firstcause.specialists.element_loops import changes, known, slowest
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Slow

CAUSE = "python-loop-over-elements"
LEAST_SHARE = 1 - 1 / speeds.FASTER
# One line of a loop has a part of the loop's time only.
LEAST_LINE = 0.1


def _mine(examination: Examination) -> Facts:
    measured = speeds.pace(examination)

    def ways(row: Facts, module: Module, statement: ast.stmt) -> list[str]:
        last = statement.end_lineno or statement.lineno
        return [] if speeds.trains(measured, row["file"], statement.lineno, last) else _ways(statement)

    return slowest(examination, LEAST_SHARE, _is_asked, ways)


def _is_asked(row: Facts) -> bool:
    return bool(row["share"] >= LEAST_LINE and row["called"] <= 0.5 * row["share"])


def _ways(statement: ast.stmt) -> list[str]:
    ways = ["together"] if together(statement) is not None else []
    if isinstance(statement, ast.For):
        ways += ["listed"] if listed_names(statement) else []
        if not ways and listed_names(statement, every=True):
            ways = ["every"]
        ways += ["iterated"] if not ways and iterated(statement) is not None else []
    return ways


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


_FORM = Slow(CAUSE, _mine, _told, _site, changes, known)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts


def found(examination: Examination) -> Facts:
    """The loop that may be this cause, empty where there is none."""
    return _FORM.own(examination)
