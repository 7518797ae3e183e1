"""no-grad-missing-at-eval: an evaluation builds graphs that nobody walks, and memory is held by them."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, growth
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "no-grad-missing-at-eval"
# Below this an evaluation takes no memory that anybody lacks.
LEAST_BYTES = 8 << 20
# The share of the rise that may be left without graphs: the values themselves take their place.
LEFT = 0.6


def _mine(found: Ran) -> Facts:
    calls: list[Facts] = found.facts.get("graphs") or []
    grown = growth.growth(found)
    held = bool(grown) and grown["kind"] == "graph" and bool(grown["at_evaluation"])
    seen = next((c for c in calls if c["forwards"] > 1 and (held or c["rise"] >= LEAST_BYTES)), None)
    return {"call": seen, "all": calls, "held": grown["expression"] if held else None} if seen else {}


def _told(seen: Facts) -> str:
    call = seen["call"]
    kept = f"; `{seen['held']}` holds more of them from step to step" if seen["held"] else ""
    return (
        f"{call['module']} ran {call['forwards']} times in eval mode with gradients on and no backward pass walked what it "
        f"built; memory was up to {call['rise'] / growth.MIB:.1f} MiB above that of the last training step{kept}"
    )


def _settled(cause: str, examination: Examination, seen: Facts) -> Hypothesis:
    if examination.lab is None:
        return inconclusive(cause, "the same evaluation without gradients: diagnose with --yes")
    undone = [[c["site"]["file"], c["site"]["line"]] for c in seen["all"]]
    arm = Arm(
        "evaluations without gradients",
        "audit",
        {"watch": ["graphs_at_evaluation", "memory_growth"], "undone": undone},
    )
    lab = examination.lab
    ran = lab.from_start([arm], lab.horizon(audits.STEPS))[arm.name]
    if not growth.same(audits.audited(lab), ran):
        return inconclusive(
            cause, f"{_told(seen)}; without gradients there the training computes something else"
        )
    key = (seen["call"]["site"]["file"], seen["call"]["site"]["line"])
    calls: list[Facts] = ran.facts.get("graphs") or []
    then = next((c for c in calls if (c["site"]["file"], c["site"]["line"]) == key), None)
    before, after = int(seen["call"]["rise"]), int(then["rise"]) if then is not None else 0
    falls = before - after >= LEAST_BYTES and after <= LEFT * before
    ends = bool(seen["held"]) and not (ran.facts.get("growth") or {})
    if not falls and not ends:
        return inconclusive(cause, f"{_told(seen)}; without gradients memory rises as much")
    site = examination.site(seen["call"]["site"])
    text = f"{_told(seen)}; with gradients off there alone it is {after / growth.MIB:.1f} MiB, and the losses are the same"
    return confirmed(
        cause, site, Evidence("counterfactual", True, text, {"before": before, "after": after}, site)
    )


def _known(examination: Examination, seen: Facts) -> Facts:
    return examination.place(seen["call"]["site"])


_FORM = Silent(CAUSE, _mine, _told, _settled, _known, "an audit of the training with an evaluation in it")
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
