"""unpicklable-object-in-dataset: a part of what a spawned worker is sent cannot be pickled, and the rest can."""

from __future__ import annotations

from firstcause.schema import Hypothesis, Site
from firstcause.source.held import made_at
from firstcause.specialists import loading
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "unpicklable-object-in-dataset"


def propose(examination: Examination) -> bool:
    return loading.failed(examination) and loading.shows(examination, "pickle")


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = loading.asked(examination)
    pickle: Facts = {} if isinstance(found, str) else found.get("pickle") or {}
    if not pickle.get("leaves"):
        return inconclusive(
            CAUSE, loading.missing(examination, "a part of the dataset that cannot be pickled")
        )
    leaf = pickle["leaves"][0]
    if not pickle["rest"]:
        return inconclusive(CAUSE, f"{_told(leaf, pickle)}; and without it the rest cannot be pickled either")
    site = _site(examination, leaf)
    values = {"leaves": pickle["leaves"], "rest_can_be_pickled": pickle["rest"]}
    return confirmed(CAUSE, site, loading.experiment(_told(leaf, pickle), values, site))


def _site(examination: Examination, leaf: Facts) -> Site | None:
    """Where the part is defined, or made and given to the attribute that holds it."""
    if leaf["defined"] is not None:
        return examination.site(leaf["defined"])
    if examination.project is None:
        return None
    made = made_at(examination.project, leaf)
    return made[0].site(made[1]) if made is not None else None


def _told(leaf: Facts, pickle: Facts) -> str:
    more = f" (and {len(pickle['leaves']) - 1} more)" if len(pickle["leaves"]) > 1 else ""
    rest = "; without that, everything else that a worker is sent can be pickled" if pickle["rest"] else ""
    return f"`{leaf['path']}`{more}, a {leaf['kind']}, cannot be pickled for a spawned worker: {leaf['error']}{rest}"


def facts(examination: Examination) -> Facts:
    found = loading.asked(examination)
    leaves = [] if isinstance(found, str) else (found.get("pickle") or {}).get("leaves") or []
    if not leaves:
        return {}
    site = _site(examination, leaves[0])
    return examination.place(vars(site) if site else None) | {"leaves": leaves}
