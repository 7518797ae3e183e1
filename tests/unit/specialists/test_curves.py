from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.lab.counterfactual import Arm, Lab, Ran
from firstcause.record.folder import RunFolder
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.curves import asked, with_curves

PLAN = {"from": "start", "steps": 60, "after": 0}


def examined(*ran: Ran) -> Any:
    """An examination whose lab has made one arm for an earlier question, and these for this one."""
    lab = Lab(RunFolder("nowhere"), {}, 1.0)
    lab.asked = [(PLAN, (Arm("earlier"),)), (PLAN, tuple(Arm(r.name) for r in ran))]
    lab._known = {'{"after": 0, "from": "start", "steps": 60}': {r.name: r for r in (*ran, made("earlier"))}}
    return SimpleNamespace(lab=lab)


def made(name: str, steps: int = 8, last: float = 1.0) -> Ran:
    losses = [3.0] * (steps - 1) + [last]
    return Ran(name, "steps", tuple({"loss": x} for x in losses))


def settled(status: Any = "confirmed", **values: Any) -> Hypothesis:
    seen = Evidence("replay", True, "seen", {"x": 1})
    return Hypothesis(
        "dead-relu-init", None, 1, status, (seen, Evidence("counterfactual", True, "gained", values))
    )


def test_the_arms_of_a_question_stand_side_by_side() -> None:
    examination = examined(made("as it ran"), made("with it", last=math.nan))
    assert asked(examination) == 2
    told = with_curves(settled(loss=1.0), examination, 1)
    assert told.evidence[0].values == {"x": 1}
    assert told.evidence[1].values == {
        "loss": 1.0,
        "losses": {"as it ran": [3.0] * 7 + [1.0], "with it": [3.0] * 7 + [None]},
    }


def test_long_curves_are_thinned() -> None:
    told = with_curves(settled(), examined(made("a", 1001), made("b", 1001)), 1)
    assert {len(c) for c in told.evidence[1].values["losses"].values()} == {167}


@pytest.mark.parametrize(
    ("hypothesis", "ran"),
    [
        (settled("refuted"), [made("a"), made("b")]),
        (settled(), [made("a")]),
        (settled(), [made("a"), made("b", 3)]),
        (settled(arms={"a": {"losses": [1.0]}}), [made("a"), made("b")]),
    ],
    ids=["refuted", "one-arm", "too-short", "has-its-own"],
)
def test_elsewhere_nothing_is_added(hypothesis: Hypothesis, ran: list[Ran]) -> None:
    assert with_curves(hypothesis, examined(*ran), 1) is hypothesis
