"""accumulation-not-divided: losses that are means are summed over the micro-batches of a step, and the mean trains."""

from __future__ import annotations

import statistics

from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.trajectories import CLIPPED, DIVIDED, SLOWER, trajectories, worth_asking
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "accumulation-not-divided"
# What the loss has to come to with the mean, in parts of what it comes to with the sum: less is a matter of taste in rates.
BETTER = 0.8


def seen(found: Ran, examination: Examination) -> str | None:
    calls = _summed(found)
    return _told(calls) if calls else None


def propose(examination: Examination) -> bool:
    if worth_asking(examination):
        return True
    found = audits.audit(examination)
    return found is not None and bool(_summed(found))


def _summed(found: Ran) -> int:
    """The backward calls of each step, from one line, where none of their losses is divided or a sum already; else 0."""
    counts = [int(r.get("calls") or 1) for r in found.rows]
    one_line = bool(found.rows) and all(r.get("lines", 1) == 1 for r in found.rows)
    sums = any(s["used"] for s in found.facts.get("summed") or [])
    calls = int(statistics.median(counts)) if one_line and not found.divided and not sums else 1
    return calls if calls > 1 else 0


def _told(calls: int) -> str:
    return f"{calls} backward calls of one line add up before each step, and none of their losses is divided"


def _settled(examination: Examination, found: Ran) -> Hypothesis:
    """A training that does not run away: the mean has to come clearly further."""
    calls = _summed(found)
    text = _told(calls)
    divided = gains.changed(examination, Arm("gradients averaged", "divide_gradients"))
    site = examination.site(found.rows[0].get("site"))
    clear = divided is not None and gains.gained(divided, found)
    if divided is None or not clear or (found.finite and end(divided) > BETTER * end(found)):
        return inconclusive(CAUSE, f"{text}; a clear gain where their gradients are averaged")
    said = f"{text}; averaged, at the same learning rate, {gains.ends(divided, found)}"
    values = {"calls": calls, "summed": end(found), "averaged": end(divided)}
    return confirmed(CAUSE, site, Evidence("counterfactual", True, said, values, site))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    audit = audits.audit(examination)
    if audit is not None and _summed(audit):
        return _settled(examination, audit)
    if not worth_asking(examination):
        missing = "whether the training runs away, which it did not before it failed"
        return inconclusive(CAUSE, missing)
    found = trajectories(examination)
    if isinstance(found, str):
        return inconclusive(CAUSE, found)
    arms = [CONTROL, DIVIDED, SLOWER, CLIPPED]
    if found.calls < 2:
        text = "each step follows one backward call, so nothing is accumulated"
        return refuted(CAUSE, found.evidence(False, [CONTROL], text))
    if not found.trains(DIVIDED):
        text = f"averaging the gradients of {found.calls} backward calls does not keep the training"
        return refuted(CAUSE, found.evidence(False, arms, text))
    if found.control.divided:
        missing = f"the losses of {found.calls} backward calls are divided already, and dividing once more keeps the training"
        return inconclusive(CAUSE, missing)
    text = (
        f"{found.calls} backward calls add up before each step and none of their losses is divided: "
        f"averaged, at the same learning rate, the training holds"
    )
    return confirmed(CAUSE, None, found.evidence(True, arms, text))


def facts(examination: Examination) -> Facts:
    audit = audits.audit(examination)
    if audit is not None and _summed(audit):
        return examination.place(audit.rows[0].get("site")) | {"calls": _summed(audit)}
    found = trajectories(examination)
    if isinstance(found, str):
        return {}
    return examination.place(found.control.rows[0].get("site")) | {"calls": found.calls}
