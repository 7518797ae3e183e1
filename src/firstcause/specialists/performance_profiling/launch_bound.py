"""launch-bound: a model is called sample by sample, and each of its many operations takes no longer for all samples at once."""

from __future__ import annotations

import ast

from firstcause.schema import Site
from firstcause.source.module import Module
from firstcause.source.otherwise import otherwise
from firstcause.specialists import speeds
from firstcause.specialists.element_loops import changes, known, slowest
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Slow

CAUSE = "launch-bound"
# The pass of a model alone; that of its gradient, which is as split up, is spent in no line of the program.
LEAST_SHARE = 0.2
WAYS = ("batched", "together")
TRAINS = (".backward(", ".step(", ".zero_grad(")


def _mine(examination: Examination) -> Facts:
    # Loops within a model's own pass are asked by python-loop-over-elements.
    return slowest(examination, LEAST_SHARE, lambda row: row["called"] > 0.5 * row["share"], _ways)


def _ways(row: Facts, module: Module, statement: ast.stmt) -> list[str]:
    text = module.segment(statement)
    if any(t in text for t in TRAINS):
        return []
    return [way for way in WAYS if otherwise(statement, way) is not None]


def _told(examination: Examination, loop: Facts) -> str:
    place = _site(examination, loop)
    return (
        f"`{place.text if place else ''}` calls the model for one sample after the other, and its small operations take "
        f"{100 * loop['share']:.0f} % of the steps' time without their gradients"
    )


def _site(examination: Examination, loop: Facts) -> Site | None:
    return speeds.site_at(examination, loop["file"], loop["line"])


_FORM = Slow(CAUSE, _mine, _told, _site, changes, known)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
