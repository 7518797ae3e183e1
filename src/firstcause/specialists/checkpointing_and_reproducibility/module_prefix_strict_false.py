"""module-prefix-strict-false: no key of a loaded state matched, and without a prefix nearly all would have."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "module-prefix-strict-false"
# A backbone that is loaded into a larger model matches in part; a prefix leaves nothing.
MATCHED, MATCHED_THEN = 0.05, 0.9


def seen(found: Ran, examination: Examination) -> str | None:
    load = _load(found)
    if not load:
        return None
    return (
        f"load_state_dict put {load['matched']} of {load['own']} entries into {load['class']}: its names begin as in "
        f"{load['names'][0]}, those of the state as in {load['names'][1]}"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and bool(_load(found))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    load = _load(found) if found is not None else {}
    if found is None or not load:
        return inconclusive(CAUSE, "an audit in which a state is loaded that does not match")
    site = examination.site(load["site"])
    text = (
        f"{seen(found, examination)}; without the prefix {load['prefix']!r} on the side of "
        f"{'the state' if load['side'] == 'given' else 'the module'}, {load['matched_then']} of {load['own']} match"
    )
    values = {k: load[k] for k in ("own", "given", "matched", "matched_then", "prefix", "side")}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    load = _load(found) if found is not None else {}
    if not load:
        return {}
    return examination.place(load["site"]) | {k: load[k] for k in ("prefix", "side", "own", "matched_then")}


def _load(found: Ran) -> Facts:
    loaded: list[Facts] = found.facts.get("loaded") or []
    bad = (
        x
        for x in loaded
        if x["matched"] <= MATCHED * x["own"] and x["matched_then"] >= MATCHED_THEN * x["own"]
    )
    return next(bad, {})
