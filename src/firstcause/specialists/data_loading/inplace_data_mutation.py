"""inplace-data-mutation: a statement writes into the stored data, so that each epoch reads what the one before left."""

from __future__ import annotations

import os
import re

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "inplace-data-mutation"
RESTORED = Arm(
    "the stored data put back after each step", "audit", {"watch": ["data_written"], "restored": True}
)
# The share of the stored values that an epoch has to change.
CHANGED = 0.02


def write(found: Ran, examination: Examination) -> Facts | None:
    """The first write that changes stored data by what they were before, or as a sample is read.

    Another one that fills them with values is meant: a replay buffer, a queue of keys.
    """
    written: list[Facts] = found.facts.get("written") or []
    return next((w for w in written if w["changed"] >= CHANGED and _of_itself(w, examination)), None)


def _of_itself(one: Facts, examination: Examination) -> bool:
    if one["reading"]:
        return True
    if one["op"] not in ("__setitem__", "copy_", "write"):
        return one["op"] not in ("zero_", "fill_", "normal_", "uniform_", "random_")
    text = one["site"]["text"]
    out = re.search(r"\bout=([\w.]+)", text)
    if out is not None:
        return len(re.findall(rf"(?<![\w.]){re.escape(out[1])}(?!\w)", text)) > 1
    target, _, value = text.partition("=")
    if text[len(target) - 1 : len(target)] in "+-*/" and value:
        return True
    base = target.split("[")[0].split("(")[0].strip()
    return bool(base) and base in value


def seen(found: Ran, examination: Examination) -> str | None:
    one = write(found, examination)
    if one is None:
        return None
    return (
        f"{one['name']} is read in every epoch and written to {one['times']} times at "
        f"{os.path.basename(one['site']['file'])}:{one['site']['line']}: {one['changed']:.0%} of its values have changed, "
        f"from {one['before']:.4g} to {one['now']:.4g} in size"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and write(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = write(found, examination) if found is not None else None
    if found is None or one is None:
        return inconclusive(CAUSE, "a write into the data that the training reads again")
    text = seen(found, examination)
    restored = gains.changed(examination, RESTORED)
    site = examination.site(one["site"])
    if restored is None or not gains.gained(restored, found):
        return inconclusive(
            CAUSE, f"{text}; with the data put back after each step the training comes no further"
        )
    values = {k: one[k] for k in ("name", "op", "times", "changed", "before", "now")} | {
        "loss": end(found),
        "restored": end(restored),
    }
    said = f"{text}; with the data put back after each step, {gains.ends(restored, found)}"
    return confirmed(CAUSE, site, Evidence("counterfactual", True, said, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = write(found, examination) if found is not None else None
    return (
        {}
        if one is None
        else examination.place(one["site"]) | {"copy": "copy" if one["op"] == "write" else "clone"}
    )
