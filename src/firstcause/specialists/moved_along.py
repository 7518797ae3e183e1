"""Ids that a view has mixed on their way to a table: whether the table has them all once elements go with their axes."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.lab.layouts import order_of
from firstcause.specialists.examination import Examination, Facts

NAME = "elements moved with their axes"
VIEWS = frozenset({"view", "reshape", "_unsafe_view", "_reshape_alias", "unflatten"})
# Steps beyond the one that failed.
BEYOND = 3


@dataclass(frozen=True)
class Moved:
    """The view, as the arm saw it, and the arm in which its elements moved; ``passes`` where nothing is refused then."""

    view: Facts
    ran: Ran
    passes: bool


def swapped(examination: Examination) -> Facts | None:
    """The op behind refused ids that gives axes another order and leaves the elements in theirs."""
    refused = examination.refused or {}
    if not (refused.get("index") or {}).get("outside"):
        return None
    ids = [o for o in refused.get("operands") or [] if isinstance(o, dict) and not o.get("parameter")]
    for op in examination.behind(ids):
        before = op["inputs"][0].get("shape") if op["op"] in VIEWS and op["inputs"] else None
        if before and op.get("shape") and order_of(before, op["shape"]) is not None:
            return op
    return None


def moved(examination: Examination) -> Moved | None:
    """The same training with the elements of that view moved along; None where there is none, or no leave."""
    found: Moved | None = examination.once("ids moved along", lambda: _moved(examination))
    return found


def _moved(examination: Examination) -> Moved | None:
    op = swapped(examination)
    if op is None or examination.lab is None or not op.get("site"):
        return None
    place = [op["site"]["file"], op["site"]["line"]]
    arm = Arm(NAME, "audit", {"watch": ["axes_swapped"], "laid_out": [place]})
    steps = len(examination.rows) + BEYOND
    ran = examination.lab.from_start([arm], steps)[NAME]
    seen = [s for s in ran.facts.get("swapped") or [] if [s["site"]["file"], s["site"]["line"]] == place]
    if not seen:
        return None
    passes = ran.exception is None and (ran.ended == "program" or len(ran.rows) > len(examination.rows))
    return Moved(seen[0], ran, passes)
