"""What the causes about shapes, dtypes and devices make of the facts of a refused call, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Run, Symptom, SymptomKind
from firstcause.specialists import CAUSES
from firstcause.specialists.debugging_techniques import (
    device_mismatch,
    dtype_double_vs_float,
    dtype_wrong_for_op,
    silent_broadcast,
)
from firstcause.specialists.debugging_techniques import squeeze_drops_batch_dimension as squeeze
from firstcause.specialists.examination import Examination
from firstcause.specialists.module_design_patterns import (
    batchnorm_small_batch,
    conv_channel_mismatch,
)
from firstcause.specialists.tensor_operations_and_memory import broadcast_in_loss

PLACE = {"file": "train.py", "line": 7, "function": "f", "text": "x"}


def examined(path: Path, **call: Any) -> Examination:
    facts = {
        "function": "linear",
        "error": "refused",
        "site": PLACE,
        "modules": [],
        "operands": [],
        "trials": [],
    }
    facts |= {"calls": {"3": {"function": "sub", "site": PLACE, "shape": [8, 8], "inputs": []}}} | call
    run = Run("r", ("python", "train.py"), str(path), "", "3.11", "linux")
    failure = {"step": 4, "replay": {"status": "replayed", "exact": True, "trace": {"call": facts}}}
    return Examination(RunFolder(str(path)), run, Symptom("exception", "RuntimeError: refused"), failure)


def settled(module: Any, examination: Examination) -> Hypothesis:
    assert module.propose(examination)
    result: Hypothesis = module.settle(Hypothesis(module.CAUSE, None, 0), examination)
    return result


def tensor(*shape: int, dtype: str = "float32", device: str = "cpu", **more: Any) -> dict[str, Any]:
    return {"shape": list(shape), "dtype": dtype, "device": device} | more


def squeezed(axis: int, batch: int | None, passes: bool, **more: Any) -> dict[str, Any]:
    facts = {
        "change": "squeeze",
        "call": 3,
        "axis": axis,
        "dropped": [0, 1],
        "named": False,
        "shape": [1, 1, 5],
    }
    return facts | {"batch_axis": batch, "one_sample": True, "passes": passes, "instead": []} | more


def aligned(passes: bool, call: int = 3, loss: bool = False) -> dict[str, Any]:
    facts = {"change": "align", "call": call, "operand": 1, "shape": [8, 1], "other": [8], "loss": loss}
    return facts | {"passes": passes, "instead": [] if passes else ["RuntimeError: refused"]}


@pytest.mark.parametrize(
    ("trials", "status"),
    [
        ([squeezed(0, 0, True), squeezed(1, 0, True)], "confirmed"),
        ([squeezed(0, None, True), squeezed(1, None, False)], "confirmed"),
        ([squeezed(0, 0, False), squeezed(1, 0, False)], "refuted"),
        # The axis that lets it pass is not that of the samples, or there is more than one sample.
        ([squeezed(0, 0, False), squeezed(1, 0, True)], "inconclusive"),
        ([squeezed(0, None, True, one_sample=False)], "inconclusive"),
        ([squeezed(0, 0, True), squeezed(0, 0, True, call=5)], "inconclusive"),
    ],
)
def test_a_squeeze_is_the_cause_only_where_the_axis_of_the_samples_is_missed(
    trials: list[dict[str, Any]], status: str, tmp_path: Path
) -> None:
    assert settled(squeeze, examined(tmp_path, trials=trials)).status == status


def test_a_broadcast_is_the_cause_where_one_shape_for_both_passes(tmp_path: Path) -> None:
    found = settled(silent_broadcast, examined(tmp_path, trials=[aligned(True)]))
    assert found.status == "confirmed"
    assert found.site is not None
    assert found.site.line == 7
    assert "makes [8, 8] of [8] and [8, 1]" in found.evidence[0].text
    assert settled(silent_broadcast, examined(tmp_path, trials=[aligned(False)])).status == "refuted"


def test_a_loss_that_compares_all_pairs_is_another_cause(tmp_path: Path) -> None:
    examination = examined(tmp_path, trials=[aligned(True, loss=True)])
    assert not silent_broadcast.propose(examination)
    assert settled(broadcast_in_loss, examination).status == "confirmed"
    # Operands of the refused call itself: only a loss asks for equal shapes.
    assert not silent_broadcast.propose(examined(tmp_path, trials=[aligned(True, call=-1)]))
    assert (
        settled(broadcast_in_loss, examined(tmp_path, trials=[aligned(True, -1, True)])).status == "confirmed"
    )


def test_a_squeeze_before_a_broadcast_is_the_deeper_cause(tmp_path: Path) -> None:
    examination = examined(tmp_path, trials=[squeezed(0, 0, True), aligned(True, loss=True)])
    assert settled(broadcast_in_loss, examination).status == "inconclusive"
    assert settled(squeeze, examination).status == "confirmed"


def batch_norm(path: Path, shape: tuple[int, ...], grad: bool, passes: bool) -> Examination:
    trials = [{"change": "twice", "operand": 0, "passes": passes, "instead": []}]
    return examined(path, function="batch_norm", operands=[tensor(*shape)], grad=grad, trials=trials)


@pytest.mark.parametrize(
    ("shape", "grad", "passes", "status"),
    [
        ((1, 8, 1, 1), True, True, "confirmed"),
        ((1, 8, 1, 1), False, True, "inconclusive"),
        ((1, 8, 1, 1), True, False, "inconclusive"),
        ((2, 8), True, False, "refuted"),
    ],
)
def test_batch_norm_of_one_value(
    shape: tuple[int, ...], grad: bool, passes: bool, status: str, tmp_path: Path
) -> None:
    assert settled(batchnorm_small_batch, batch_norm(tmp_path, shape, grad, passes)).status == status


def convolution(path: Path, given: tuple[int, ...], *trials: dict[str, Any]) -> Examination:
    module = {"path": "net.0", "class": "Conv2d", "settings": {"groups": 2, "out_channels": 4}}
    operands = [tensor(*given), tensor(4, 3, 5, 5, parameter="net.0.weight")]
    return examined(path, function="conv2d", operands=operands, modules=[module], trials=list(trials))


def test_channels_are_counted_with_groups_and_on_their_axis(tmp_path: Path) -> None:
    assert settled(conv_channel_mismatch, convolution(tmp_path, (2, 6, 9, 9))).status == "refuted"
    found = settled(conv_channel_mismatch, convolution(tmp_path, (2, 7, 9, 9)))
    assert found.status == "confirmed"
    assert "takes 6 channels, 7 arrive" in found.evidence[0].text
    last = {"change": "channels-first", "operand": 0, "passes": True, "instead": []}
    found = settled(conv_channel_mismatch, convolution(tmp_path, (2, 9, 9, 6), last))
    assert "at the place of the channels the call passes" in found.evidence[0].text
    assert (
        settled(conv_channel_mismatch, convolution(tmp_path, (2, 7, 9, 9), aligned(True))).status
        == "inconclusive"
    )


def cast(operand: int, before: str, after: str, passes: bool = True) -> dict[str, Any]:
    facts = {"change": "dtype", "operand": operand, "from": before, "to": after, "passes": passes}
    return facts | {"instead": [] if passes else ["RuntimeError: refused"]}


def test_float64_is_told_from_a_wrong_kind_of_number(tmp_path: Path) -> None:
    operands = [tensor(4, 2, dtype="float64", other=True), tensor(3, 2)]
    said = "mat1 and mat2 must have the same dtype, but got Double and Float"
    trials = [cast(0, "float64", "float32"), {"change": "all-double", "passes": True, "instead": []}]
    examination = examined(tmp_path, operands=operands, trials=trials, error=said)
    assert settled(dtype_double_vs_float, examination).status == "confirmed"
    assert settled(dtype_wrong_for_op, examination).status == "refuted"
    labels = [cast(0, "float64", "float32", False), cast(0, "float64", "int64")]
    examination = examined(tmp_path, operands=operands, trials=labels, error="expected scalar type Long")
    assert settled(dtype_double_vs_float, examination).status == "refuted"
    assert settled(dtype_wrong_for_op, examination).status == "confirmed"


def test_two_operands_that_could_be_cast_settle_nothing(tmp_path: Path) -> None:
    trials = [cast(0, "float32", "int64"), cast(1, "float32", "int64")]
    examination = examined(tmp_path, operands=[tensor(2), tensor(2)], trials=trials, error="dtype")
    assert settled(dtype_wrong_for_op, examination).status == "refuted"


def test_the_operand_without_memory_is_the_one_on_the_wrong_device(tmp_path: Path) -> None:
    operands = [tensor(4, 2), tensor(4, 2, device="meta", parameter="model.shift.table")]
    said = "Tensor on device meta is not on the expected device cpu!"
    tried = {"change": "device", "operands": [1], "passes": True, "instead": []}
    found = settled(device_mismatch, examined(tmp_path, operands=operands, trials=[tried], error=said))
    assert found.status == "confirmed"
    assert "`model.shift.table`" in found.evidence[0].text
    # Two operands, one on each device: which of them is meant is not shown.
    pair = [tensor(4, 2), tensor(4, 2, device="cuda:0")]
    said = "Expected all tensors to be on the same device"
    assert settled(device_mismatch, examined(tmp_path, operands=pair, error=said)).status == "inconclusive"


def test_a_failed_description_settles_nothing(tmp_path: Path) -> None:
    examination = examined(tmp_path, failed="RuntimeError()", trials=[aligned(True)])
    modules = (silent_broadcast, squeeze, conv_channel_mismatch, dtype_double_vs_float, device_mismatch)
    assert not any(m.propose(examination) for m in modules)


@pytest.mark.parametrize("kind", ["nan", "exception"])
@pytest.mark.parametrize(
    "cause",
    [
        "batchnorm-small-batch",
        "broadcast-in-loss",
        "conv-channel-mismatch",
        "device-mismatch",
        "dtype-double-vs-float",
        "dtype-wrong-for-op",
        "embedding-index-out-of-range",
        "flatten-linear-mismatch",
        "residual-shape-mismatch",
        "silent-broadcast",
        "squeeze-drops-batch-dimension",
        "target-out-of-range",
        "tensor-attribute-not-a-buffer",
    ],
)
def test_a_suspected_refusal_that_was_not_seen_is_neither_confirmed_nor_refuted(
    tmp_path: Path, cause: str, kind: SymptomKind
) -> None:
    run = Run("r", ("python", "train.py"), str(tmp_path), "", "3.11", "linux")
    failure = {"step": 4, "replay": {"status": "replayed", "exact": True, "trace": {}}}
    examination = Examination(RunFolder(str(tmp_path)), run, Symptom(kind, "it failed"), failure)
    result = CAUSES[cause].settle(Hypothesis(cause, None, 0), examination)
    assert (result.status, result.evidence) == ("inconclusive", ())
    assert result.missing.startswith("a call that is refused")
