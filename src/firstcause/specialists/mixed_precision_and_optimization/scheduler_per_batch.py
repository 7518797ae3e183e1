"""scheduler-per-batch: a schedule made for epochs is stepped with each batch, or one made for steps with each epoch."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains, schedules
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "scheduler-per-batch"


def seen(found: Ran, examination: Examination) -> str | None:
    batch, epoch = schedules.per_batch(found, examination), schedules.per_epoch(found, examination)
    if batch is not None:
        return _early(batch)
    return _late(epoch, examination) if epoch is not None else None


def _early(one: Facts) -> str:
    rates = " to ".join(f"{r:.3g}" for r in one["rates"])
    end = f", made for {one['end']}" if one["end"] is not None else ""
    low = (
        f", the rate below a hundredth of its start after {one['floor_at']} calls" if one["floor_at"] else ""
    )
    return (
        f"{one['class']}{end}, is stepped with each of {one['steps']} optimizer steps, {one['batches']} in an epoch: "
        f"{rates}{low}"
    )


def _late(one: Facts, examination: Examination) -> str:
    calls = f"got {one['calls']} of them in {one['steps']} steps{_reached(one, examination)}"
    if one["end"] is None:
        return f"{one['class']} warms up over {one['warm_up']} calls, of the optimizer's {one['total']} steps, and {calls}"
    count = "as many as" if one["end"] == one["total"] else "about as many as"
    return f"{one['class']} is made for {one['end']} calls, {count} the optimizer's {one['total']} steps, and {calls}"


def _reached(one: Facts, examination: Examination) -> str:
    """Of a warm-up: how far the whole run's recorded rates came."""
    rates = [r["lr"] for r in examination.rows if isinstance(r.get("lr"), float)]
    peak = (one.get("shape") or {}).get("peak")
    if not one.get("warm_up") or not rates or not peak or max(rates) >= 0.9 * peak:
        return ""
    return f": of its peak of {peak:.3g} the recorded rates reach {max(rates):.3g}"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    told = seen(found, examination) if found is not None else None
    one = _one(examination)
    if told is None or one is None:
        return inconclusive(CAUSE, "a schedule on another clock than it was made for")
    pair = schedules.on_its_clock(examination, one, one["epochs"] is None)
    if pair is None:
        return inconclusive(CAUSE, "the same training with the schedule on its clock")
    site = examination.site(one["site"])
    clock = "after each optimizer step" if one["epochs"] is None else f"at every {one['batches']}th call"
    text = f"{told}; stepped {clock}, {gains.ends(*pair)}"
    named = ("class", "calls", "steps", "end", "batches", "floor_at", "rates", "warm_up")
    values = {k: one[k] for k in named if k in one}
    if not schedules.helps(pair):
        return inconclusive(CAUSE, f"a gain: {text}")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _is_taken_here(examination: Examination, one: Facts) -> bool:
    """Whether the program takes the schedule's step itself, and no library for it."""
    site = examination.site(one["site"])
    return site is not None and "step" in site.text


def _one(examination: Examination) -> Facts | None:
    found = audits.audit(examination)
    if found is None:
        return None
    return schedules.per_batch(found, examination) or schedules.per_epoch(found, examination)


def facts(examination: Examination) -> Facts:
    found, one = audits.audit(examination), _one(examination)
    if found is None or one is None:
        return {}
    place = examination.place(one["site"]) if _is_taken_here(examination, one) else {}
    return {
        "call": place,
        "per_batch": one["epochs"] is not None,
        "step": examination.place(found.rows[0].get("step_site")),
    }
