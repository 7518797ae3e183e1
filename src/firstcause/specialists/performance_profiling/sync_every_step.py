"""sync-every-step: values are taken out of tensors for a log in every step.

On a GPU the host then waits for the device. A CPU has nothing to wait for: what can be shown there is the time that taking
out, formatting and writing costs, and only that is said.
"""

from __future__ import annotations

import ast
import re

from firstcause.schema import Site
from firstcause.source import reads
from firstcause.source.module import Module
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.performance_profiling import python_loop_over_elements
from firstcause.specialists.slow import Change, Slow

CAUSE = "sync-every-step"
LEAST_SHARE = 1 - 1 / speeds.FASTER
TAKEN = re.compile(r"\.item\(|\.tolist\(|\.cpu\(|\.numpy\(|\bprint\(|\.synchronize\(|\brepr\(|\bstr\(")


def _mine(examination: Examination) -> Facts:
    measured = speeds.pace(examination)
    if not measured.get("stacks") or examination.project is None or speeds.repeated(examination):
        return {}
    if python_loop_over_elements.found(examination):
        return {}
    for row in reversed([r for r in speeds.lines(measured) if r["share"] >= LEAST_SHARE]):
        module = examination.project.module(row["file"])
        if module is None or row["data"] > 0.5 * row["share"] or row["called"] > 0.5 * row["share"]:
            continue
        for statement in _logging(module, row["line"]):
            last = statement.end_lineno or statement.lineno
            if not speeds.trains(measured, row["file"], statement.lineno, last):
                return {
                    "file": row["file"],
                    "line": statement.lineno,
                    "column": statement.col_offset,
                    "last": last,
                    "kind": "run",
                    "share": row["share"],
                }
    return {}


def _logging(module: Module, line: int) -> list[ast.stmt]:
    """The statements around a line that take values out and whose names nothing else of the loop reads, inner first."""
    found = [
        n
        for n in module.nodes(ast.Expr, ast.Assign, ast.AugAssign, ast.For)
        if n.lineno <= line <= (n.end_lineno or n.lineno) and TAKEN.search(module.segment(n))
    ]
    return [n for n in reversed(found) if not reads.leaves([n])]


def _told(examination: Examination, taken: Facts) -> str:
    place = _site(examination, taken)
    return (
        f"`{place.text if place else ''}` takes values out of tensors in every step, which is {100 * taken['share']:.0f} % of "
        "the steps' time"
    )


def _site(examination: Examination, taken: Facts) -> Site | None:
    return speeds.site_at(examination, taken["file"], taken["line"])


def _changes(examination: Examination, taken: Facts) -> list[Change]:
    keys = ("file", "line", "column", "last", "kind")
    statement = {k: taken[k] for k in keys} | {"number": 0, "how": "seldom"}
    return [Change("with it done at one step of 50", (statement,))]


def _known(examination: Examination, taken: Facts) -> Facts:
    return taken


_FORM = Slow(CAUSE, _mine, _told, _site, _changes, _known)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
