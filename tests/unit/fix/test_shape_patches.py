"""The line and the patch for causes about shapes and dtypes: what the code shows of precision, ways and operands."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from firstcause.fix.alignments import reshaping
from firstcause.fix.dtypes import dtype_of
from firstcause.fix.patches import (
    batchnorm_small_batch,
    broadcast_in_loss,
    conv_channel_mismatch,
    device_mismatch,
    dtype_double_vs_float,
    dtype_wrong_for_op,
    silent_broadcast,
    squeeze_drops_batch_dimension,
)
from firstcause.source import Project
from firstcause.source.flow import find
from firstcause.source.frames import Value


def project(tmp_path: Path, text: str) -> tuple[Project, str]:
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return Project.of_script(str(path), str(tmp_path)), str(path)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.zeros(3)", "float64"),
        ("np.zeros(3, dtype=np.float32)", "float32"),
        ("rng.normal(size=3).astype(np.float32)", "float32"),
        ("single - np.mean(double)", "float64"),
        ("2.0 * single", "float32"),
        ("np.array([0.5, 1.5], np.float32)", "float32"),
        ("torch.from_numpy(double)", "float64"),
        ("torch.from_numpy(double).float()", "float32"),
        ("torch.tensor([0.5])", "float32"),
        ("unknown(single)", ""),
        ("np.stack([double, unknown(1)])", "float64"),
        ("np.stack([single, unknown(1)])", ""),
    ],
)
def test_precision_is_said_only_where_the_code_says_it(
    expression: str, expected: str, tmp_path: Path
) -> None:
    text = f"""
        import numpy as np
        import torch
        from elsewhere import unknown
        rng = np.random.default_rng(0)
        double = rng.normal(size=3)
        single = double.astype("float32")
        result = {expression}
    """
    found, path = project(tmp_path, text)
    module = found.module(path)
    assert module is not None
    node = find(module, 7, expression)
    assert node is not None
    assert dtype_of(found, Value(module, node)) == expected


@pytest.mark.parametrize(
    ("shape", "other", "method"),
    [
        ((8, 1), (8,), ".squeeze(-1)"),
        ((8,), (8, 1), ".unsqueeze(-1)"),
        ((1, 8), (8,), ".squeeze(0)"),
        ((4, 1, 8), (4, 8), ".squeeze(1)"),
        ((8, 1, 1), (8,), ""),
        ((8, 1), (1, 8), ""),
    ],
)
def test_one_axis_of_size_one_is_taken_or_given(
    shape: tuple[int, ...], other: tuple[int, ...], method: str
) -> None:
    assert reshaping(shape, other) == method


def test_the_operand_is_told_by_the_columns_of_its_operation(tmp_path: Path) -> None:
    found, path = project(tmp_path, "td = (a - b) + (c - d)\n")
    facts: dict[str, Any] = {
        "file": path,
        "line": 1,
        "function": "sub",
        "operand": 1,
        "shape": (8, 1),
        "other": (8,),
    }
    assert silent_broadcast.patch(facts | {"only": True}, found, str(tmp_path)) is None
    facts |= {"column": 16, "end_line": 1, "end_column": 21, "only": True}
    fix = silent_broadcast.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert "+td = (a - b) + (c - d.squeeze(-1))" in fix.diff
    assert silent_broadcast.patch(facts | {"only": False}, found, str(tmp_path)) is None


def test_a_squeeze_is_not_patched_where_the_axis_of_the_samples_is_unknown(tmp_path: Path) -> None:
    found, path = project(tmp_path, "y = torch.tanh(h).squeeze()\n")
    facts: dict[str, Any] = {
        "file": path,
        "line": 1,
        "shape": (1, 1, 5),
        "dropped": (0, 1),
        "batch_axis": None,
    }
    assert squeeze_drops_batch_dimension.patch(facts, found, str(tmp_path)) is None
    fix = squeeze_drops_batch_dimension.patch(facts | {"batch_axis": 1}, found, str(tmp_path))
    assert fix is not None
    assert "squeeze(0)" in fix.diff
    assert (
        squeeze_drops_batch_dimension.patch(facts | {"batch_axis": 1, "named": True}, found, str(tmp_path))
        is None
    )


STANDARDISED = """
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Scale:
        def fit(self, x):
            self.mean = x.mean(axis=0, dtype=np.float64)
            return self

        def transform(self, x):
            return x - self.mean

    def epoch(model, loader):
        for x, y in loader:
            model(x)

    raw = np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32)
    scale = Scale().fit(raw)
    train = TensorDataset(torch.from_numpy(scale.transform(raw).astype(np.float32)), torch.zeros(9))
    held_out = TensorDataset(torch.from_numpy(scale.transform(raw)), torch.zeros(9))
    epoch(model, DataLoader(train, batch_size=3))
    epoch(model, DataLoader(held_out, batch_size=3))
"""


def test_float64_is_cast_where_it_arises_on_the_way_of_the_call_that_failed(tmp_path: Path) -> None:
    found, path = project(tmp_path, STANDARDISED)
    birth = {"kind": "data", "name": "x", "at": {"file": path, "line": 15}}
    facts = {
        "file": path,
        "line": 15,
        "birth": birth,
        "frames": [{"file": path, "line": 15}, {"file": path, "line": 22}],
    }
    site = dtype_double_vs_float.line(facts, found)
    assert site is not None
    assert site.line == 11
    fix = dtype_double_vs_float.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert "return (x - self.mean).astype(np.float32)" in fix.diff


def test_labels_are_cast_where_they_alone_become_a_tensor(tmp_path: Path) -> None:
    text = """
        import torch
        from torch.nn.functional import cross_entropy
        from torch.utils.data import DataLoader, TensorDataset
        from files import load
        x, y = load()
        data = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
        for inputs, labels in DataLoader(data):
            loss = cross_entropy(model(inputs), labels)
    """
    found, path = project(tmp_path, text)
    facts: dict[str, Any] = {
        "file": path,
        "line": 8,
        "function": "cross_entropy",
        "from": "float32",
        "to": "int64",
    }
    facts |= {"role": "target", "text": "labels", "bound": {"file": path, "line": 8, "name": "labels"}}
    fix = dtype_wrong_for_op.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert "torch.from_numpy(y).long()" in fix.diff


def test_no_patch_drops_the_last_batch_where_every_batch_is_one_sample(tmp_path: Path) -> None:
    text = """
        from torch.utils.data import DataLoader
        def batches(size):
            return DataLoader(data, batch_size=size)
        for x, y in batches(1):
            step(x, y)
    """
    found, path = project(tmp_path, text)
    facts: dict[str, Any] = {"loop": {"file": path, "line": 4}, "first_step": False}
    site = batchnorm_small_batch.line(facts, found)
    assert site is not None
    assert site.line == 3
    assert batchnorm_small_batch.patch(facts, found, str(tmp_path)) is None
    found, path = project(tmp_path, text.replace("batches(1)", "batches(16)"))
    fix = batchnorm_small_batch.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert "batch_size=size, drop_last=True" in fix.diff


def test_a_buffer_is_made_persistent_only_where_the_model_is_filled_by_assignment(tmp_path: Path) -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                self.register_buffer("table", make(), persistent=False)
        model.load_state_dict(state, assign=True)
    """
    found, path = project(tmp_path, text)
    birth = {"kind": "state", "class_name": "Net", "name": "table"}
    facts = {"file": path, "line": 4, "device": "meta", "birth": birth}
    fix = device_mismatch.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert 'register_buffer("table", make())' in fix.diff
    found, _ = project(tmp_path, text.replace(", assign=True", ""))
    assert device_mismatch.patch(facts, found, str(tmp_path)) is None
    site = device_mismatch.line(facts, found)
    assert site is not None
    assert site.line == 3


def test_in_channels_of_a_loop_is_told_by_the_number_that_was_seen(tmp_path: Path) -> None:
    text = """
        from torch import nn
        class Encoder(nn.Module):
            def __init__(self, bands):
                super().__init__()
                stages = []
                for width in (8, 16):
                    stages += [nn.Conv2d(bands, width, 3), nn.ReLU()]
                    bands = width
                self.stages = nn.Sequential(*stages)
        model = Encoder(bands=4)
    """
    found, path = project(tmp_path, text)
    facts: dict[str, Any] = {"file": path, "line": 10, "class_name": "Encoder", "attribute_path": "stages.0"}
    facts |= {
        "kind": "Conv2d",
        "in_channels": 4,
        "out_channels": 8,
        "actual_channels": 5,
        "input_shape": [2, 5, 9, 9],
    }
    site = conv_channel_mismatch.line(facts, found)
    assert site is not None
    assert site.line == 10
    fix = conv_channel_mismatch.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert "Encoder(bands=5)" in fix.diff


def test_a_prediction_gets_the_shape_of_its_target_in_the_loss(tmp_path: Path) -> None:
    found, path = project(
        tmp_path,
        """
        import torch.nn.functional as F
        def step(model, x, y):
            out = model(x)
            return F.binary_cross_entropy(out, y)
        """,
    )
    facts: dict[str, Any] = {
        "file": path,
        "line": 4,
        "function": "binary_cross_entropy",
        "operand": 0,
        "shape": (8, 1),
        "other": (8,),
        "only": True,
    }
    fix = broadcast_in_loss.patch(facts, found, str(tmp_path))
    assert fix is not None
    assert "+    return F.binary_cross_entropy(out.squeeze(-1), y)" in fix.diff
    assert broadcast_in_loss.patch(facts | {"only": False}, found, str(tmp_path)) is None
