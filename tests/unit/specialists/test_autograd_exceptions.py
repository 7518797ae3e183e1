"""What the causes of autograd's exceptions make of the facts of a replay, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Run, Symptom
from firstcause.specialists.custom_autograd_functions import (
    graph_reused_across_iterations as reused,
)
from firstcause.specialists.custom_autograd_functions import (
    inplace_modified_saved_tensor as inplace,
)
from firstcause.specialists.custom_autograd_functions import (
    nondeterministic_recomputation as drawn,
)
from firstcause.specialists.custom_autograd_functions import (
    optimizer_step_before_backward as step_first,
)
from firstcause.specialists.custom_autograd_functions import wrong_number_of_gradients as count
from firstcause.specialists.debugging_techniques import grad_mode_left_disabled as mode
from firstcause.specialists.examination import Examination
from firstcause.specialists.module_design_patterns import (
    cached_intermediate_in_checkpointed_block as cached,
)
from firstcause.specialists.module_design_patterns import detached_encoder as cut
from firstcause.specialists.module_design_patterns import tensor_attribute_not_a_buffer as buffer
from firstcause.specialists.tensor_operations_and_memory import recurrent_state_keeps_graph as state

MODULES = (inplace, step_first, reused, state, mode, cut, drawn, cached, count, buffer)
WRITTEN = "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
SECOND = "RuntimeError: Trying to backward through the graph a second time"
NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
CHECKPOINT = (
    "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: A different number of tensors was saved"
)
GRADIENTS = (
    "RuntimeError: function ScaleBackward returned an incorrect number of gradients (expected 2, got 1)"
)


def place(line: int) -> dict[str, Any]:
    return {"file": "train.py", "line": line, "function": "f", "text": f"line {line}"}


def node(age: str = "this pass", walked_at: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    facts = {"name": "ExpBackward0", "site": place(4), "age": age, "walked_at": walked_at}
    return facts | {"needs": [True], "defined": None} | more


def write(**more: Any) -> dict[str, Any]:
    facts = {
        "op": "mul_",
        "site": place(7),
        "step": None,
        "of_gradient": False,
        "running": None,
        "grad": True,
    }
    return facts | more


def graph(**more: Any) -> dict[str, Any]:
    root = {"requires_grad": False, "made_by": 2, "shape": []}
    facts: dict[str, Any] = {
        "backwards": [{"site": place(9), "roots": [root]}],
        "node": node(),
        "borrowed": [],
    }
    modes = {"on_at_start": True, "inference": False, "around": [], "switches": []}
    return facts | {"steps": [], "mode": modes, "returns": [], "recomputation": None} | more


def modified(*writes: dict[str, Any], parameter: str | None = None) -> dict[str, Any]:
    facts = {"slot": "result", "shape": [3], "version": 1, "expected": 0, "parameter": parameter}
    return facts | {"writes": list(writes), "total_writes": len(writes)}


def borrowed(**more: Any) -> dict[str, Any]:
    held = {"expression": "h", "name": "h", "attribute": None, "class": None, "file": "train.py", "line": 5}
    facts = {"op": "mm", "site": place(5), "module": "net", "shape": [4, 8], "kept": False, "reaches": True}
    return facts | {"held": [held], "age": "an earlier pass"} | more


def verdicts(
    message: str, facts: dict[str, Any] | None, tmp_path: Path, exact: bool = True, **trace: Any
) -> dict[str, Hypothesis]:
    """The status that each cause takes which proposes itself for an exception with these facts."""
    symptom = Symptom("exception", message)
    replay = {"status": "replayed", "exact": exact, "why": "" if exact else "it raised nothing"}
    failure = {"step": 3, "replay": replay | {"trace": {"graph": facts} | trace}}
    run = Run("r", ("python", "train.py"), str(tmp_path), "", "3.11", "linux")
    examination = Examination(RunFolder(str(tmp_path)), run, symptom, failure)
    return {
        m.CAUSE: m.settle(Hypothesis(m.CAUSE, None, 0), examination)
        for m in MODULES
        if m.propose(examination)
    }


def statuses(*args: Any, **kwargs: Any) -> dict[str, str]:
    return {cause: h.status for cause, h in verdicts(*args, **kwargs).items()}


@pytest.mark.parametrize(
    ("written", "confirmed"),
    [
        (write(), inplace.CAUSE),
        (write(step={"optimizer": "Adam", "site": place(6)}), step_first.CAUSE),
        (write(of_gradient=True), step_first.CAUSE),
    ],
)
def test_who_wrote_decides_between_an_op_and_an_update(
    written: dict[str, Any], confirmed: str, tmp_path: Path
) -> None:
    found = statuses(WRITTEN, graph(modified=modified(written)), tmp_path)

    assert [c for c, s in found.items() if s == "confirmed"] == [confirmed]
    assert set(found.values()) == {"confirmed", "refuted"}


def test_a_version_that_nothing_in_the_step_moved_settles_nothing(tmp_path: Path) -> None:
    found = verdicts(WRITTEN, graph(modified=modified()), tmp_path)

    assert {found[c].status for c in (inplace.CAUSE, step_first.CAUSE)} == {"inconclusive"}
    assert "no op of the replayed step wrote" in found[inplace.CAUSE].missing


def test_an_inexact_replay_settles_nothing(tmp_path: Path) -> None:
    found = verdicts(WRITTEN, graph(modified=modified(write())), tmp_path, exact=False)

    assert {h.status for h in found.values()} == {"inconclusive"}
    assert "it raised nothing" in found[inplace.CAUSE].missing


@pytest.mark.parametrize(
    ("age", "held", "expected"),
    [
        ("before the loop", borrowed(kept=True), {reused.CAUSE: "confirmed", state.CAUSE: "refuted"}),
        ("an earlier pass", borrowed(), {reused.CAUSE: "refuted", state.CAUSE: "confirmed"}),
        # A cache that is filled once is the same tensor in each pass; a running total is a number.
        ("an earlier pass", borrowed(kept=True), {reused.CAUSE: "confirmed", state.CAUSE: "refuted"}),
        ("an earlier pass", borrowed(shape=[]), {reused.CAUSE: "confirmed", state.CAUSE: "refuted"}),
        ("this pass", borrowed(reaches=False), {reused.CAUSE: "refuted", state.CAUSE: "refuted"}),
    ],
)
def test_how_old_the_graph_is_and_what_holds_it_decides(
    age: str, held: dict[str, Any], expected: dict[str, str], tmp_path: Path
) -> None:
    facts = graph(node=node(age, place(8)), borrowed=[held])

    assert statuses(SECOND, facts, tmp_path) == expected


def test_a_retained_state_is_told_from_a_write_of_this_pass(tmp_path: Path) -> None:
    facts = graph(node=node("an earlier pass"), borrowed=[borrowed()], modified=modified())
    found = statuses(WRITTEN, facts, tmp_path)

    assert [c for c, s in found.items() if s == "confirmed"] == [state.CAUSE]
    assert found[inplace.CAUSE] == found[step_first.CAUSE] == "inconclusive"


def op(number: int, name: str, *inputs: dict[str, Any], grad: bool = True, dtype: str = "float32") -> Any:
    facts = {"number": number, "op": name, "site": place(number), "grad": grad, "dtype": dtype}
    return str(number), facts | {"inputs": list(inputs), "module": None}


WEIGHT = {"parameter": "net.weight", "trained": True, "dtype": "float32", "shape": [3]}


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        (
            [op(1, "mul", WEIGHT, grad=False), op(2, "sum", {"made_by": 1}, grad=False)],
            ("confirmed", "refuted"),
        ),
        ([op(1, "mul", WEIGHT, grad=False), op(2, "sum", {"made_by": 1})], ("refuted", "confirmed")),
        (
            [op(0, "mul", WEIGHT), op(1, "detach", {"made_by": 0}), op(2, "sum", {"made_by": 1})],
            ("refuted", "confirmed"),
        ),
        (
            [
                op(0, "mul", WEIGHT),
                op(1, "argmax", {"made_by": 0}, dtype="int64"),
                op(2, "sum", {"made_by": 1}),
            ],
            ("refuted", "confirmed"),
        ),
        # Nothing that is trained stands behind it: frozen, or another model's.
        ([op(2, "sum", {"other": True})], ("refuted", "inconclusive")),
        ([op(2, "sum", {"other": True}, grad=False)], ("inconclusive", "refuted")),
    ],
)
def test_where_the_graph_ends_decides(ops: list[Any], expected: tuple[str, str], tmp_path: Path) -> None:
    found = statuses(NO_GRAPH, graph(), tmp_path, chain=dict(ops))

    assert (found[mode.CAUSE], found[cut.CAUSE]) == expected


def test_numbers_that_came_back_are_a_cut_where_the_loss_is_made_from_them(tmp_path: Path) -> None:
    chain = dict([op(2, "mean", {"other": True})])
    back = {"number": 2, "op": "_local_scalar_dense", "left_at": place(3), "back_at": place(8), "elements": 5}

    behind = verdicts(NO_GRAPH, graph(returns=[back]), tmp_path, chain=chain)[cut.CAUSE]
    beside = verdicts(NO_GRAPH, graph(returns=[back | {"number": 1}]), tmp_path, chain=chain)[cut.CAUSE]

    assert (behind.status, behind.site and behind.site.line) == ("confirmed", 3)
    assert beside.status == "inconclusive"


def variant(equal: bool, kind: str = "generator", tensors: bool = False, **more: Any) -> dict[str, Any]:
    part = {
        "kind": kind,
        "name": "python",
        "class": "",
        "attribute": None,
        "tensors": tensors,
        "draws": [place(6)],
    }
    return {"equal": equal, "parts": [part | more]}


@pytest.mark.parametrize(
    ("variants", "more", "expected"),
    [
        ([variant(True)], {}, ("confirmed", "refuted")),
        ([variant(True, "attribute", attribute="calls")], {}, ("confirmed", "refuted")),
        (
            [variant(True, "attribute", tensors=True, attribute="bias")],
            {"reused": 2},
            ("refuted", "confirmed"),
        ),
        ([variant(True, "attribute", attribute="filled")], {"reused": 2}, ("refuted", "confirmed")),
        ([variant(True, "cache", name="rotary")], {}, ("refuted", "confirmed")),
        ([variant(True), variant(True, "cache")], {}, ("inconclusive", "inconclusive")),
        ([variant(False)], {}, ("inconclusive", "inconclusive")),
        ([variant(True)], {"unchanged_equal": True}, ("inconclusive", "inconclusive")),
    ],
)
def test_what_makes_the_recomputation_equal_decides(
    variants: list[Any], more: dict[str, Any], expected: tuple[str, str], tmp_path: Path
) -> None:
    region = {
        "site": place(8),
        "function": "net.block",
        "forward_ops": 9,
        "second_ops": 4,
        "parting": place(6),
    }
    region |= {"unchanged_equal": False, "reused": 0, "variants": variants} | more
    found = statuses(CHECKPOINT, graph(recomputation=region), tmp_path)

    assert (found[drawn.CAUSE], found[cached.CAUSE]) == expected


@pytest.mark.parametrize(
    ("name", "defined", "expected"),
    [
        ("ScaleBackward", place(5) | {"class": "Scale"}, "confirmed"),
        ("AddBackward0", None, "inconclusive"),
    ],
)
def test_the_function_that_failed_must_be_the_programs_own(
    name: str, defined: dict[str, Any] | None, expected: str, tmp_path: Path
) -> None:
    facts = graph(node=node(name=name, defined=defined, needs=[True, False]))

    assert statuses(GRADIENTS, facts, tmp_path) == {count.CAUSE: expected}


@pytest.mark.parametrize(
    ("dtype", "parameters", "expected"),
    [
        ("float32", ["float64", "cpu"], "confirmed"),
        ("float32", ["float32", "cpu"], "refuted"),
        ("int64", ["float64", "cpu"], "refuted"),
    ],
)
def test_an_attribute_is_blamed_only_where_it_differs_from_the_parameters(
    dtype: str, parameters: list[str], expected: str, tmp_path: Path
) -> None:
    held = {"path": "net", "class": "Net", "name": "basis", "parameters": parameters}
    operands = [
        {"dtype": "float64", "device": "cpu", "shape": [2, 3], "input": "x"},
        {"dtype": dtype, "device": "cpu", "shape": [3, 3], "other": True, "attribute": held},
    ]
    refused = {"op": "mm", "error": "expected m1 and m2 to have the same dtype", "operands": operands}
    found = statuses("RuntimeError: dtype", None, tmp_path, refused=refused | {"site": place(6)}, chain={})

    assert found == {buffer.CAUSE: expected}


@pytest.mark.parametrize("module", MODULES)
def test_none_asks_where_nothing_was_raised(module: Any, tmp_path: Path) -> None:
    run = Run("r", ("python", "train.py"), str(tmp_path), "", "3.11", "linux")
    symptom = Symptom("nan", "the loss is nan")

    assert not module.propose(Examination(RunFolder(str(tmp_path)), run, symptom, {}))
