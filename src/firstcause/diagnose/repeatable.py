"""Evidence with what its counterfactual was made from, so that anybody can make it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from firstcause.lab.counterfactual import Arm
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination

Asked = Sequence[tuple[dict[str, Any], tuple[Arm, ...]]]


def repeatable(examination: Examination, settle: Callable[[], list[Hypothesis]]) -> list[Hypothesis]:
    """The hypotheses that ``settle`` gives, the arms behind each piece of evidence added to its values as ``arms``."""
    lab = examination.lab
    if lab is None:
        return settle()
    before = len(lab.asked)
    settled = settle()
    calls = lab.asked[before:]
    return [replace(h, evidence=tuple(_noted(e, calls, lab.asked) for e in h.evidence)) for h in settled]


def _noted(evidence: Evidence, calls: Asked, every: Asked) -> Evidence:
    if evidence.kind != "counterfactual" and not (evidence.kind == "observation" and calls):
        return evidence
    # Arms that another hypothesis has had run are found by their names.
    arms = _named(evidence, calls) or _named(evidence, every) or _plain(calls)
    return replace(evidence, values=evidence.values | {"arms": arms}) if arms else evidence


def _named(evidence: Evidence, asked: Asked) -> list[dict[str, Any]]:
    found = [
        (plan, tuple(a for a in arms if a.name in evidence.values or a.name in evidence.text))
        for plan, arms in asked
    ]
    return _plain([(plan, arms) for plan, arms in found if arms])


def _plain(asked: Asked) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for plan, arms in asked:
        for arm in arms:
            one = {"plan": plan, "name": arm.name, "change": arm.change, "settings": arm.settings}
            if one not in result:
                result.append(one)
    return result
