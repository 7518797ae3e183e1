"""Which of a program's writes set its initial values, and which belong to its training."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from firstcause.fix.initial_values import chosen
from firstcause.source import Project

ALL_IN_MAIN = """
    import torch
    from torch import nn

    def main():
        model = nn.Linear(4, 4)
        for layer in model.modules():
            nn.init.constant_(layer.bias, -12.0)
        for step in range(9):
            model(torch.randn(2, 4)).sum().backward()
            CLAMPED
"""
ONE_STEP = """
    import torch
    from torch import nn

    def step(model, batch):
        model.weight.data.clamp_(-0.01, 0.01)
        model(batch).sum().backward()
"""
AT_THE_TOP = """
    import torch
    from torch import nn

    model = nn.Linear(4, 4)
    CLAMPED
    for step in range(9):
        model(torch.randn(2, 4)).sum().backward()
        model.bias.data.clamp_(-0.01, 0.01)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(ALL_IN_MAIN.replace("CLAMPED", "pass"), 8, id="beside its loop"),
        pytest.param(
            ALL_IN_MAIN.replace("CLAMPED", "model.weight.data.clamp_(0, 1)"), 8, id="not within its loop"
        ),
        pytest.param(ONE_STEP, None, id="in one step"),
        pytest.param(AT_THE_TOP.replace("CLAMPED", "pass"), None, id="within a loop at the top"),
        pytest.param(
            AT_THE_TOP.replace("CLAMPED", "nn.init.normal_(model.weight, std=9)"),
            6,
            id="before a loop at the top",
        ),
    ],
)
def test_a_write_before_the_loop_sets_initial_values(tmp_path: Path, text: str, line: int | None) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(text))
    found = chosen(Project(str(tmp_path), [str(tmp_path / "train.py")]), negative_bias=False)
    assert (found.call.lineno if found is not None else None) == line
