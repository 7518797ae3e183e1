"""Loops over elements in which the time of a training goes: the slowest one, what is tried with it, what its fix is told."""

from __future__ import annotations

import ast
from collections.abc import Callable

from firstcause.source.loops import loops_around
from firstcause.source.module import Module
from firstcause.source.pieces import Piece
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Change

WORDS = {
    "batched": "with the model called once for all samples",
    "together": "with the loop's elements computed at once (torch.vmap)",
    "listed": "with the tensors made lists of numbers once, before the loop",
    "every": "with the tensors made lists of numbers once, before the loop",
    "iterated": "with the loop going through lists of numbers in place of tensors",
}


def slowest(
    examination: Examination,
    least: float,
    is_asked: Callable[[Facts], bool],
    ways: Callable[[Facts, Module, ast.stmt], list[str]],
) -> Facts:
    """The loop with the most of the steps' time that can be written otherwise; empty where there is none.

    ``least`` is the share of the time that it must have, ``is_asked`` tells of a measured line whether its loops are looked
    at, and ``ways`` names those of ``source/otherwise`` that a loop around such a line can be written in.
    """
    measured, project = speeds.pace(examination), examination.project
    if not measured.get("stacks") or project is None or speeds.repeated(examination):
        return {}
    found: list[Facts] = []
    for row in filter(is_asked, speeds.lines(measured)):
        module = project.module(row["file"])
        for statement in loops_around(module, row["line"]) if module is not None else ():
            piece = Piece(
                statement.lineno, statement.col_offset, statement.end_lineno or statement.lineno, "run"
            )
            share = speeds.share_of(measured, row["file"], piece.line, piece.last)
            known = ways(row, module, statement) if module is not None and share >= least else []
            if known:
                own = {"file": row["file"], "hot": row["line"], "share": share, "ways": known}
                found.append(own | piece.plain())
    # The outermost of those that hold the same time takes the inner ones with it.
    return max(found, key=lambda f: (f["share"], f["last"] - f["line"]), default={})


def changes(examination: Examination, loop: Facts) -> list[Change]:
    """Each way to write the loop otherwise."""
    place = {"file": loop["file"], **Piece.of(loop).plain(), "number": 0}
    return [Change(WORDS[way], (place | {"how": way},)) for way in loop["ways"]]


def known(examination: Examination, loop: Facts) -> Facts:
    """What ``fix/element_loops`` needs of the loop."""
    return {k: v for k, v in loop.items() if k != "share"}
