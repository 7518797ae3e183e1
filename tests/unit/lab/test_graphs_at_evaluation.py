"""Evaluations that build graphs, and the same ones with gradients switched off at their call."""

from __future__ import annotations

import inspect

import torch
from watched import Step, watch


def training(step: Step, width: int) -> int:
    """Two evaluations and a training step; the line at which the model is called in the former."""
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    frame = inspect.currentframe()
    line = frame.f_lineno + 4 if frame is not None else 0
    for _ in range(2):
        net.eval()
        try:
            net(torch.ones(4, width))
        except RuntimeError:
            continue
    assert torch.is_grad_enabled()
    step(net.train()(torch.ones(4, 2)).mean(), optimizer)
    return line


def test_passes_of_an_evaluation_are_counted_and_can_be_made_without_gradients() -> None:
    lines: list[int] = []
    (seen,) = watch("graphs_at_evaluation", lambda step: lines.append(training(step, 2)))[0]["graphs"]
    assert (seen["forwards"], seen["module"]) == (2, "Linear")
    undone = {"undone": [[seen["site"]["file"], seen["site"]["line"]]]}
    facts, _ = watch("graphs_at_evaluation", lambda step: lines.append(training(step, 2)), undone)
    assert [c["forwards"] for c in facts["graphs"]] == [2]


def test_gradients_are_back_after_a_pass_without_them_that_raised() -> None:
    lines: list[int] = []
    watch("graphs_at_evaluation", lambda step: lines.append(training(step, 2)))
    undone = {"undone": [[__file__, lines[0]]]}
    watch("graphs_at_evaluation", lambda step: lines.append(training(step, 3)), undone)
    assert torch.is_grad_enabled()
