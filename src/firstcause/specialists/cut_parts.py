"""Parts of a model that the optimizer holds and no gradient reaches: the place that cuts them off from the loss.

A switch of gradient mode or a detach is undone, and the part must train then. A way through NumPy or Python numbers,
or the choice of an index, cannot be undone: there the part is moved, and the loss must change with it, which shows
a path that autograd does not see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from firstcause.lab.counterfactual import Arm, Lab, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end, further
from firstcause.specialists.verdicts import confirmed, inconclusive

UNDOABLE = frozenset({"gradient mode off", "detach"})
# The same first step gives the same loss but for the order of sums; what moves the loss is far above that.
SAME, CHANGED = 1e-6, 1e-3
# The steps after the move in which the loss is compared.
COMPARED = 5


@dataclass(frozen=True)
class Parted:
    """The one place that cuts, what was seen of it, and the figures."""

    cut: Facts
    text: str
    values: Facts


def settle(cause: str, examination: Examination, found: Ran) -> Hypothesis:
    """Confirmed at the one place that is shown to cut; else inconclusive."""
    one = parted(examination, found)
    if one is None:
        missing = "one place whose cut keeps the loss from coming further: whether the parts are meant to stay as they are"
        return inconclusive(cause, missing)
    site = examination.site(one.cut["site"])
    return confirmed(cause, site, Evidence("counterfactual", True, one.text, one.values, site))


def parted(examination: Examination, found: Ran) -> Parted | None:
    """The one place that is shown to cut; None where there are several, or none."""
    return examination.once("cut-parts", lambda: _parted(examination, found))


def _parted(examination: Examination, found: Ran) -> Parted | None:
    if examination.lab is None:
        return None
    cuts = audits.cuts(found)
    if not _for_good(examination, found):
        return None
    arms = {_undone(c).name: c for c in cuts if c["kind"] in UNDOABLE}
    ran = _from_start(examination.lab, [_undone(c) for c in arms.values()]) if arms else {}
    trained = [p for name, c in arms.items() if (p := _trains(examination, found, ran[name], c)) is not None]
    if trained:
        return trained[0] if len(trained) == 1 else None
    # A cut that the program needs, as NumPy does: without it the call after it is refused.
    fixed = [c for c in cuts if c["kind"] not in UNDOABLE or ran[_undone(c).name].ended == "exception"]
    return _moves(examination, found, fixed[0]) if len(fixed) == 1 else None


def _for_good(examination: Examination, found: Ran) -> bool:
    """Whether the same parts have no gradient late in the run either: a part may be held back for a while on purpose."""
    late = 2 * len(examination.rows) // 3
    if examination.lab is None or late < audits.STEPS or examination.lab.horizon(audits.STEPS) > late:
        return True
    later = examination.lab.from_start([audits.AUDITED], audits.STEPS, late)[audits.AUDITED.name]
    return bool(later.rows) and set(_without(found)) <= set(_without(later))


def _from_start(lab: Lab, arms: list[Arm]) -> dict[str, Ran]:
    return lab.from_start(arms, lab.horizon(audits.STEPS))


def _undone(cut: Facts) -> Arm:
    at = [cut["site"]["file"], cut["site"]["line"]]
    return Arm(f"without the cut at {at[0]}:{at[1]}", "audit", {"watch": ["parts_reached"], "undone": [at]})


def _trains(examination: Examination, found: Ran, kept: Ran, cut: Facts) -> Parted | None:
    without, still = _without(found), len(_without(kept))
    if still >= len(without) or not further(kept, found):
        return None
    text = (
        f"{_unreached(found)}: {cut['kind']} at {examination.site(cut['site'])} cuts them off; "
        f"without it {still} have none, and the loss comes to {end(kept):.4g} instead of {end(found):.4g}"
    )
    values = {"without_gradient": without, "without_then": still, "end": end(found), "end_then": end(kept)}
    return Parted(cut, text, values)


def _moves(examination: Examination, found: Ran, cut: Facts) -> Parted | None:
    """Whether the loss depends on the part, as it can only by the values that leave the graph at the cut."""
    without = _without(found)
    if examination.lab is None or cut["cut_off"] < len(without):
        return None
    moved = Arm(
        "the part moved after the first step", "audit", {"watch": ["parts_reached"], "moved": without}
    )
    kept = _from_start(examination.lab, [moved])[moved.name]
    pairs = list(zip(found.losses, kept.losses, strict=False))[: COMPARED + 1]
    if len(pairs) < 2 or _apart(*pairs[0]) > SAME:
        return None
    number, (as_it_ran, then) = max(enumerate(pairs[1:], 1), key=lambda p: _apart(*p[1]))
    if not _apart(as_it_ran, then) > CHANGED:
        return None
    text = (
        f"{_unreached(found)}, yet the loss depends on them: moved at the first step, they make it {then:.4g} instead of "
        f"{as_it_ran:.4g} at step {number}; their values leave the graph by {cut['kind']} at {examination.site(cut['site'])}"
    )
    return Parted(
        cut, text, {"without_gradient": without, "loss": as_it_ran, "loss_moved": then, "step": number}
    )


def _without(ran: Ran) -> list[str]:
    return list(ran.facts.get("without_gradient") or [])


def _unreached(found: Ran) -> str:
    without = _without(found)
    return (
        f"{len(without)} of the {found.facts['held']} parameters that the optimizer holds had no gradient at any of "
        f"{len(found.rows)} steps, {without[0]} the first"
    )


def _apart(one: float, other: float) -> float:
    """The difference in parts of the larger one; infinite where one is not finite."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other), 1e-12)
