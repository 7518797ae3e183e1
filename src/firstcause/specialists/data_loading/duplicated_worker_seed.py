"""duplicated-worker-seed: workers draw from generators that all begin in one state."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "duplicated-worker-seed"


def drawn(found: Ran) -> Facts | None:
    """The first generator that workers share the state of; among workers before among epochs."""
    draws: list[Facts] = found.facts.get("draws") or []
    return min(draws, key=lambda d: d["alike"] != "workers", default=None)


def seen(found: Ran, examination: Examination) -> str | None:
    one = drawn(found)
    if one is None:
        return None
    name = f"{one['owner']}.{one['name'].rpartition('.')[2]}" if one["owner"] else one["name"]
    numbers = ", ".join(str(x) for x in one["drawn"] if x is not None)
    following = f": the next number of each is {numbers}" if numbers else ""
    if one["alike"] == "workers":
        return (
            f"{one['number']} workers draw from {name} in the same state at the start of an epoch{following}"
        )
    return f"each of {one['number']} epochs draws from {name} in the same state{following}"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and drawn(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = drawn(found) if found is not None else None
    text = seen(found, examination) if found is not None else None
    if one is None or text is None:
        return inconclusive(CAUSE, "the states of the generators that workers draw from")
    site = examination.site(one["site"])
    values = {k: one[k] for k in ("name", "alike", "number", "drawn", "workers")}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = drawn(found) if found is not None else None
    if one is None:
        return {}
    return examination.place(one["site"]) | {k: one[k] for k in ("name", "owner", "kind", "own_init")}
