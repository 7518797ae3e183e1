"""rank-specific-initial-weights: the ranks average their gradients, and step different models with them."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.distributed_training_strategies.replicas import checks, gradients_shared
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "rank-specific-initial-weights"


def _differing(found: Ran) -> Facts:
    """The parameters that differ at the first step, where all ranks step them with the same gradients."""
    first = next(checks(found), None)
    if first is None or not gradients_shared(found):
        return {}
    names = [[(p[0], p[1]) for p in c["parameters"]] for c in first]
    if any(n != names[0] for n in names):
        return {}
    differ = [i for i in range(len(names[0])) if len({c["parameters"][i][2] for c in first}) > 1]
    if not differ:
        return {}
    norms = {str(r): round(c["parameters"][differ[0]][4], 6) for r, c in enumerate(first)}
    return {
        "made": first[0]["made"],
        "wrapped": first[0]["wrapped"],
        "step": first[0]["step"],
        "differ": len(differ),
        "parameters": len(names[0]),
        "name": names[0][differ[0]][0],
        "norms": norms,
        "checksums": {str(r): c["parameters"][differ[0]][2] for r, c in enumerate(first)},
    }


def _told(seen: Facts) -> str:
    norms = ", ".join(f"{n:.6g} on rank {r}" for r, n in seen["norms"].items())
    return (
        f"before step {seen['step']} {seen['differ']} of {seen['parameters']} parameters differ between the ranks while their "
        f"gradients are equal; the norm of {seen['name']} is {norms}"
    )


def _settled(cause: str, examination: Examination, seen: Facts) -> Hypothesis:
    site = examination.site(seen["made"])
    values = {k: seen[k] for k in ("step", "differ", "parameters", "name", "norms", "checksums")}
    return confirmed(cause, site, Evidence("observation", True, _told(seen), values, site))


def _known(examination: Examination, seen: Facts) -> Facts:
    return examination.place(seen["made"]) | {"wrapped": seen["wrapped"]}


_FORM = Silent(
    CAUSE, _differing, _told, _settled, _known, "all ranks run again, with the weights that each begins with"
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
