"""Our modes leave an optimizer's step alone and are back for the next line of the user's; those of others never move."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from firstcause.lab.arm import Running
from firstcause.lab.audit import Watcher
from firstcause.lab.audit.function_calls import FunctionCalls
from firstcause.lab.function_modes import Modes


class Counts(Watcher):
    CALLS = frozenset({"sqrt", "square", "mean"})

    def __init__(self) -> None:
        self.names: list[str] = []

    def called(self, call: Any) -> None:
        self.names.append(call.name)


class Theirs(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def trained(optimizer: Any, step: Any) -> list[str]:
    running = Running({"change": "", "settings": {}}, {"steps": 10}, None)  # type: ignore[arg-type]
    watcher = Counts()
    hooks = [
        register_optimizer_step_pre_hook(lambda o, args, kwargs: running.arrived(o)),
        register_optimizer_step_post_hook(lambda o, args, kwargs: running.stepped(o)),
    ]
    try:
        with FunctionCalls([watcher], lambda w, e: None):
            step(running)
    finally:
        for hook in hooks:
            hook.remove()
    return watcher.names


def loss_of(net: nn.Module, running: Running) -> torch.Tensor:
    loss = net(torch.ones(2, 3)).square().mean()
    running.loss(loss)
    loss.backward()
    return loss


def test_what_an_optimizer_computes_is_not_looked_at() -> None:
    net = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(net.parameters())

    def steps(running: Running) -> None:
        for _ in range(2):
            loss_of(net, running)
            optimizer.step()

    assert trained(optimizer, steps) == ["square", "mean"] * 2


def test_a_closure_is_looked_at_from_its_first_backward_on() -> None:
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def steps(running: Running) -> None:
        def closure() -> float:
            return float(loss_of(net, running).detach())

        for _ in range(3):
            optimizer.step(closure)

    assert trained(optimizer, steps) == ["square", "mean"] * 2


def test_modes_beneath_and_above_those_of_others_stay_in_their_order() -> None:
    ours, modes = FunctionCalls([], lambda w, e: None), Modes()
    with Theirs() as theirs, ours:
        modes.off()
        assert torch.overrides._get_current_function_mode_stack() == [theirs]
        modes.on()
        assert torch.overrides._get_current_function_mode_stack() == [theirs, ours]
    with ours, Theirs() as theirs:
        modes.off()
        assert torch.overrides._get_current_function_mode_stack() == [ours, theirs]
        assert not modes.are_off
