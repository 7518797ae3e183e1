"""What each numerics cause makes of the facts of a replay, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.lab.counterfactual import CONTROL, Ran
from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Run, Symptom
from firstcause.specialists.custom_autograd_functions import acos_gradient_at_domain_edge as acos
from firstcause.specialists.data_loading import nan_in_data, outlier_in_data
from firstcause.specialists.debugging_techniques import (
    all_targets_ignored,
    division_by_zero,
    exp_overflow,
    log_of_zero,
    std_of_single_element,
)
from firstcause.specialists.examination import Examination
from firstcause.specialists.mixed_precision_and_optimization import bf16_rounding, fp16_overflow
from firstcause.specialists.outliers import OTHERS, WITHOUT
from firstcause.specialists.tensor_operations_and_memory import fully_masked_attention_row as masked

MODULES = (
    nan_in_data,
    outlier_in_data,
    log_of_zero,
    division_by_zero,
    exp_overflow,
    all_targets_ignored,
    std_of_single_element,
    masked,
    acos,
    fp16_overflow,
    bf16_rounding,
)
MINUS = float("-inf")
SITE = {"file": "train.py", "line": 9, "function": "f", "text": "x = f(y)"}
FAR = {
    "rows": [4],
    "count": 1,
    "scores": [900.0],
    "rest": 3.0,
    "columns": [2],
    "values": [1e5],
    "medians": [1.0],
    "origin": {"shape": [16, 3]},
    "name": {"name": "x", "file": "train.py", "line": 9},
    "site": SITE,
    "used_by": 0,
}


class Bench:
    """A lab whose arms have run already."""

    def __init__(self, *ran: Ran) -> None:
        self.ran = {r.name: r for r in ran}

    def from_failure(self, arms: Any) -> dict[str, Ran]:
        return {a.name: self.ran[a.name] for a in arms}


def birth(op: str, kind: str, **more: Any) -> dict[str, Any]:
    facts = {
        "op": op,
        "number": 5,
        "kind": kind,
        "signs": [],
        "phase": "forward",
        "site": SITE,
        "operands": [{"shape": [16], "dtype": "float32"}],
        "operands_at": [1.0],
        "inputs": [],
        "output": {"shape": [16], "dtype": "float32", "nan": int(kind == "nan")},
        "rows": 1,
        "first_rows": [4],
        "element": [4],
        "ancestors": [],
    }
    return facts | more


def examination(births: list[dict[str, Any]], lab: Any = None, **trace: Any) -> Examination:
    run = Run("r", ("python", "train.py"), "/nowhere", "", "3.11", "linux")
    everything = {"births": births, "losses": [{"ancestors": list(range(len(births)))}], "chain": {}, **trace}
    failure = {"step": 3, "replay": {"status": "replayed", "exact": True, "trace": everything}}
    return Examination(RunFolder("/nowhere"), run, Symptom("nan", "the loss is NaN"), failure, lab)


def settled(seen: Examination) -> dict[str, Hypothesis]:
    return {m.CAUSE: m.settle(Hypothesis(m.CAUSE, None, 0), seen) for m in MODULES if m.propose(seen)}


def confirmed(seen: Examination) -> list[str]:
    return [slug for slug, h in settled(seen).items() if h.status == "confirmed"]


MASK = birth(
    "masked_fill", "inf", constant=True, number=1, output={"shape": [16], "-inf": 8, "nan": 0, "inf": 0}
)
ROW = {"rows": 1, "of": 16, "first": [[4]], "dim": -1, "length": 8}
TARGETS = {"count": 6, "ignored": 6, "ignore_index": -100}


@pytest.mark.parametrize(
    ("births", "causes"),
    [
        ([MASK, birth("_softmax", "nan", masked=ROW, ancestors=[0])], ["fully-masked-attention-row"]),
        ([birth("_softmax", "nan")], []),
        ([birth("exp", "inf", operands_at=[91.0])], ["exp-overflow"]),
        ([birth("exp", "inf", operands_at=["inf"])], []),
        ([birth("pow", "inf", operands_at=[10.0, 45.0])], ["exp-overflow"]),
        ([birth("pow", "inf", operands_at=[1e30, 2.0])], []),
        ([birth("nll_loss_forward", "nan", targets=TARGETS)], ["all-targets-ignored"]),
        ([birth("nll_loss_forward", "nan", targets=TARGETS | {"ignored": 5, "weightless": 1})], []),
        ([birth("mean", "nan", empty=True)], []),
        (
            [birth("std", "nan", spread={"values": 1, "correction": 1.0, "shape": [1]})],
            ["std-of-single-element"],
        ),
        ([birth("std", "nan", spread={"values": 0, "correction": 1.0, "shape": [0]})], []),
        ([birth("acos", "nan", operands_at=[1.0000001])], ["acos-gradient-at-domain-edge"]),
        ([birth("acos", "nan", operands_at=[0.5])], []),
        (
            [birth("rsqrt", "inf", operands_at=[0.0], phase="backward", node="AcosBackward0")],
            ["acos-gradient-at-domain-edge"],
        ),
        ([birth("rsqrt", "inf", operands_at=[0.0], phase="backward", node="MulBackward0")], []),
        ([birth("rsqrt", "inf", operands_at=[0.0])], ["division-by-zero"]),
    ],
)
def test_the_first_bad_value_settles_one_cause_or_none(
    births: list[dict[str, Any]], causes: list[str]
) -> None:
    assert confirmed(examination(births)) == causes


HALF = {"shape": [16], "dtype": "float16", "nan": 0}


@pytest.mark.parametrize(
    ("op", "half", "alone", "together", "causes"),
    [
        ("mm", "float16", 131072.0, None, ["fp16-overflow"]),
        ("exp", "float16", 200000.0, None, ["fp16-overflow"]),
        # Text, as the record writes an infinity.
        ("exp", "float16", "inf", None, ["exp-overflow"]),
        ("mm", "float16", "inf", None, []),
        ("exp", "bfloat16", "inf", "inf", ["exp-overflow"]),
        ("mul", "bfloat16", 3e38, 3e38, []),
    ],
)
def test_half_precision(op: str, half: str, alone: Any, together: Any, causes: list[str]) -> None:
    seen = birth(
        op, "inf", operands_at=[95.0], output=HALF | {"dtype": half}, wider={"half": half, "alone": alone}
    )
    if together is not None:
        seen["wider"]["together"] = together

    assert confirmed(examination([seen])) == causes


def test_a_logarithm_of_what_bfloat16_rounded_to_0_is_rounding_too() -> None:
    wider = {"half": "bfloat16", "alone": "-inf", "together": -13.8}
    seen = birth("log", "inf", operands_at=[0.0], signs=["-"], wider=wider)

    assert confirmed(examination([seen])) == ["log-of-zero", "bf16-rounding"]


CHAIN = {
    "1": {"op": "masked_fill", "site": SITE, "inputs": [{"shape": [16], "input": "x"}], "shape": [16]},
    "2": {"op": "exp", "site": SITE, "inputs": [{"shape": [16], "made_by": 1}], "shape": [16]},
    "3": {"op": "sum", "site": SITE, "inputs": [{"shape": [16], "made_by": 2}], "shape": [1]},
}


def test_a_softmax_by_hand_over_a_hidden_row_is_no_division_by_zero() -> None:
    inputs = [{"shape": [16], "made_by": 2}, {"shape": [1], "made_by": 3}]
    quotient = birth("div", "nan", operands_at=[0.0, 0.0], inputs=inputs)

    assert confirmed(examination([MASK, quotient], chain=CHAIN)) == ["fully-masked-attention-row"]
    assert confirmed(examination([quotient])) == ["division-by-zero"]


def test_an_infinity_less_an_infinity_needs_a_maximum_behind_it() -> None:
    inputs = [{"shape": [16], "made_by": 1}, {"shape": [1], "made_by": 2}]
    difference = birth("sub", "nan", operands_at=[MINUS, MINUS], inputs=inputs, ancestors=[0])
    largest = CHAIN | {"2": CHAIN["2"] | {"op": "amax"}}

    assert confirmed(examination([MASK, difference], chain=largest)) == ["fully-masked-attention-row"]
    assert confirmed(examination([MASK, difference], chain=CHAIN)) == []


def bench(without: str, others: str, control: str = "not-finite") -> Bench:
    def ran(name: str, ended: str) -> Ran:
        return Ran(name, ended, ({"loss": 1.0 if ended == "steps" else float("inf"), "grad_norm": 1.0},))

    return Bench(ran(CONTROL.name, control), ran(WITHOUT.name, without), ran(OTHERS.name, others))


@pytest.mark.parametrize(
    ("lab", "outlier", "overflow"),
    [
        (None, "inconclusive", "inconclusive"),
        (bench("steps", "not-finite"), "confirmed", "confirmed"),
        (bench("not-finite", "not-finite"), "refuted", "confirmed"),
        (bench("steps", "steps"), "refuted", "confirmed"),
        (bench("steps", "not-finite", control="steps"), "inconclusive", "inconclusive"),
        (bench("exception", "not-finite"), "inconclusive", "inconclusive"),
    ],
)
def test_a_row_far_outside_is_the_cause_only_where_the_step_needs_it(
    lab: Any, outlier: str, overflow: str, tmp_path: Path
) -> None:
    found = settled(examination([birth("exp", "inf", operands_at=[5e3])], lab, outliers=[FAR]))

    assert (found["outlier-in-data"].status, found["exp-overflow"].status) == (outlier, overflow)


def test_a_row_far_outside_is_not_suspected_of_a_division_by_zero() -> None:
    found = settled(examination([birth("div", "inf", operands_at=[1.0, 0.0])], outliers=[FAR]))

    assert "outlier-in-data" not in found
    assert found["division-by-zero"].status == "confirmed"


SOURCE = birth(
    "source", "nan", number=-1, whole_columns=True, origin={"input": "x", "shape": [16, 3]}, operands_at=None
)
MADE = {"site": SITE, "shape": [16, 3], "bad": 16, "rows": 16, "columns": [1], "whole_columns": True}


@pytest.mark.parametrize(
    ("made", "division", "data"),
    [
        (MADE | {"divided": [{"text": "std", "zeros": 1, "elements": 3}]}, "confirmed", "refuted"),
        (MADE | {"divided": []}, "refuted", "confirmed"),
        ("2 lines of the program make whole columns bad", "inconclusive", "inconclusive"),
    ],
)
def test_whole_columns_are_settled_by_the_line_that_made_them(made: Any, division: str, data: str) -> None:
    seen = examination([SOURCE])
    seen.memory["first_made"] = made

    found = settled(seen)

    assert (found["division-by-zero"].status, found["nan-in-data"].status) == (division, data)


MATRIX = {
    "site": SITE,
    "shape": [8, 8],
    "bad": 15,
    "rows": 8,
    "columns": [7],
    "whole_columns": False,
    "derived": True,
}
DEGREES = MATRIX | {"shape": [8], "bad": 1, "columns": [], "derived": False, "site": SITE | {"line": 7}}
ZERO = [{"text": "degree", "zeros": 1, "elements": 8, "counts": True}]
READ = MATRIX | {"derived": False, "divided": []}


@pytest.mark.parametrize(
    ("shape", "rows", "events", "division", "data"),
    [
        ([8, 8], 8, [DEGREES | {"divided": ZERO}, MATRIX | {"divided": []}], "confirmed", "refuted"),
        ([8, 8], 1, [MATRIX | {"derived": False, "divided": ZERO}], "confirmed", "refuted"),
        # Read so, not divided: it is in the data.
        ([8, 8], 8, [READ], "refuted", "confirmed"),
        # Some rows of a table are records, whoever made them.
        ([16, 3], 2, [DEGREES | {"divided": ZERO}], "refuted", "confirmed"),
        ([8, 8], 8, [DEGREES | {"divided": ZERO}], "inconclusive", "inconclusive"),
        ([8, 8], 8, [DEGREES | {"divided": ZERO}, READ], "inconclusive", "inconclusive"),
    ],
)
def test_a_matrix_that_the_program_made_bad_is_settled_by_the_line_that_divided(
    shape: list[int], rows: int, events: list[dict[str, Any]], division: str, data: str
) -> None:
    root = birth("source", "nan", number=-1, rows=rows, origin={"shape": shape}, operands_at=None)
    seen = examination([root | {"output": {"shape": shape}}], Bench())
    seen.memory["watched"] = {
        "events": [e | {"site": {**SITE, **e["site"]}} for e in events],
        "ended": "at the loop",
    }
    for event in seen.memory["watched"]["events"][1:]:
        event["site"]["line"] += 1

    found = settled(seen)

    assert (found["division-by-zero"].status, found["nan-in-data"].status) == (division, data)
