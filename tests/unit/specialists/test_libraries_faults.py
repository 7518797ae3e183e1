"""What libraries do in their own way: adapters beside a frozen base, and means that they divide by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import left_out, starts
from firstcause.specialists.ignored_targets import all_ignored


def missing(name: str, zero: bool) -> Ran:
    part = {"name": name, "class": "Linear", "values": "kept", "zero": zero}
    return Ran("audit", "program", facts={"missing": [part]})


@pytest.mark.parametrize(
    ("name", "zero", "purpose"),
    [
        ("h.0.attn.lora_B.default.weight", True, False),
        ("h.0.attn.lora_B.default.weight", False, True),
        ("h.0.attn.explorer.weight", True, True),
    ],
)
def test_only_an_adapter_that_is_still_zero_is_left_out_by_mistake(
    name: str, zero: bool, purpose: bool
) -> None:
    examination: Any = SimpleNamespace(project=None)
    assert left_out.left_on_purpose(missing(name, zero), examination) == purpose


def quotient(numerator: str, denominator: str, ignored: int, loss: bool = True) -> Any:
    summed = {"op": "nll_loss_forward", "targets": {"count": 6, "ignored": ignored, "ignore_index": -100}}
    behind = [{"op": "mul"}, summed] if loss else [{"op": "sum"}]
    examination: Any = SimpleNamespace(behind=lambda inputs, most: iter(behind))
    root = {"op": "div", "operands_at": [numerator, denominator], "inputs": [{"made_by": 3}, {"made_by": 4}]}
    return all_ignored(examination, root)


def test_a_mean_divided_by_hand_is_one_over_ignored_targets() -> None:
    found = quotient("0.0", "0.0", 6)
    assert found is not None
    assert found["count"] == 6


@pytest.mark.parametrize(
    ("numerator", "denominator", "ignored", "loss"),
    [("0.0", "0.0", 5, True), ("1.5", "0.0", 6, True), ("0.0", "2.0", 6, True), ("0.0", "0.0", 6, False)],
)
def test_other_quotients_are_not(numerator: str, denominator: str, ignored: int, loss: bool) -> None:
    assert quotient(numerator, denominator, ignored, loss) is None


def weight(drawn_by_library: bool) -> dict[str, Any]:
    return {
        "name": "q_proj.weight",
        "ratio": 0.2,
        "gain": 0.09,
        "rows": 32,
        "alike": False,
        "drawn_by_library": drawn_by_library,
    }


@pytest.mark.parametrize(("drawn", "told"), [(False, True), (True, False)])
def test_the_spread_that_a_library_gives_is_its_own(drawn: bool, told: bool) -> None:
    found = starts.shown(Ran("audit", "program", facts={"units": [], "weights": [weight(drawn)]}))
    assert (found is not None) == told
