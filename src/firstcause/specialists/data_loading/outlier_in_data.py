"""outlier-in-data: one or a few rows far outside of all others drive a step, or the whole training, out of range."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.outliers import (
    OTHERS,
    WITHOUT,
    born_in,
    suspects,
    told,
    without_them,
)
from firstcause.specialists.trajectories import BEYOND, Trajectories, trajectories, worth_asking
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "outlier-in-data"


def propose(examination: Examination) -> bool:
    return suspects(examination) is not None or worth_asking(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = suspects(examination)
    if found is not None and examination.root is not None:
        settled = _of_the_step(examination, found)
        if settled.status != "refuted" or not worth_asking(examination):
            return settled
    return _of_the_training(examination)


def _of_the_step(examination: Examination, found: Facts) -> Hypothesis:
    """The failing step again, without the rows and without as many others."""
    root = examination.root or {}
    arms = without_them(examination)
    if isinstance(arms, str):
        missing = f"{told(found)}; whether the step is finite without that is not known: {arms}"
        return inconclusive(CAUSE, missing)
    control, without, others = arms
    supports = without.finite and not others.finite
    place = examination.site(found["site"])
    inside = "; the first bad values lie in these rows alone" if born_in(root, found) else ""
    values = {k: found[k] for k in ("rows", "columns", "values", "medians", "scores", "rest")}
    seen = examination.replayed(supports, told(found) + inside, values, place)
    tried = Evidence(
        "counterfactual",
        supports,
        "; ".join(_described(r) for r in (control, without, others)),
        {r.name: {"losses": list(r.losses), "ended": r.ended} for r in (control, without, others)},
        place,
        examination.step,
    )
    if supports:
        return confirmed(CAUSE, place, seen, tried)
    return refuted(CAUSE, tried)


def _of_the_training(examination: Examination) -> Hypothesis:
    """The training from its start, without any row that is far outside of its batch and without as many others."""
    run = trajectories(examination)
    if isinstance(run, str) or examination.lab is None:
        return inconclusive(CAUSE, str(run))
    steps = run.onset - run.after + BEYOND
    arms = examination.lab.from_start((CONTROL, WITHOUT, OTHERS), steps, run.after)
    beside = Trajectories(arms, run.onset, run.after)
    without = arms[WITHOUT.name]
    if without.ended in ("lost", "exception") or arms[OTHERS.name].ended in ("lost", "exception"):
        return inconclusive(CAUSE, beside.describe(WITHOUT))
    replaced = int(without.facts.get("replaced") or 0)
    supports = replaced > 0 and beside.kept(WITHOUT) and not beside.kept(OTHERS)
    first = (without.facts.get("first") or [None])[0]
    text = (
        f"{replaced} rows lay far outside of their batch; {told(first)}"
        if first
        else "no row lies far outside"
    )
    tried = beside.evidence(supports, (CONTROL, WITHOUT, OTHERS), text)
    if not supports:
        return refuted(CAUSE, tried)
    examination.memory["outlier"] = first
    return confirmed(CAUSE, examination.site((first or {}).get("site")), tried)


def _described(ran: Ran) -> str:
    loss = f"loss {ran.losses[0]:.4g}" if ran.losses else "no loss"
    norm = next(iter(ran.column("grad_norm")), None)
    how = "finite" if ran.finite else "not finite"
    return f"{ran.name}: {how} ({loss}{f', gradient norm {norm:.3g}' if norm is not None else ''})"


def facts(examination: Examination) -> Facts:
    found = suspects(examination)
    measured = examination.memory.get("outlier") or found or {}
    name = measured.get("name") or {}
    place = examination.place(name or measured.get("site"))
    return place | {"name": name.get("name", ""), "value": (measured.get("values") or [None])[0]}
