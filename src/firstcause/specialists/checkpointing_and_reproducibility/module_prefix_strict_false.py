"""module-prefix-strict-false: no key of a loaded state matched, and without a prefix nearly all would have."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "module-prefix-strict-false"
# A backbone that is loaded into a larger model matches in part; a prefix leaves nothing.
MATCHED, MATCHED_THEN = 0.05, 0.9


def _load(found: Ran) -> Facts:
    loaded: list[Facts] = found.facts.get("loaded") or []
    bad = (
        x
        for x in loaded
        if x["matched"] <= MATCHED * x["own"] and x["matched_then"] >= MATCHED_THEN * x["own"]
    )
    return next(bad, {})


def _told(load: Facts) -> str:
    return (
        f"load_state_dict put {load['matched']} of {load['own']} entries into {load['class']}: its names begin as in "
        f"{load['names'][0]}, those of the state as in {load['names'][1]}"
    )


def _settled(cause: str, examination: Examination, load: Facts) -> Hypothesis:
    site = examination.site(load["site"])
    text = (
        f"{_told(load)}; without the prefix {load['prefix']!r} on the side of "
        f"{'the state' if load['side'] == 'given' else 'the module'}, {load['matched_then']} of {load['own']} match"
    )
    values = {k: load[k] for k in ("own", "given", "matched", "matched_then", "prefix", "side")}
    return confirmed(cause, site, Evidence("observation", True, text, values, site))


def _known(examination: Examination, load: Facts) -> Facts:
    return examination.place(load["site"]) | {k: load[k] for k in ("prefix", "side", "own", "matched_then")}


_FORM = Silent(
    CAUSE, _load, _told, _settled, _known, "an audit in which a state is loaded that does not match"
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
