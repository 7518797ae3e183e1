"""The norm of the gradients with which an optimizer steps, or of those of a backward where none steps."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

import pytest
import torch

from firstcause.integrations.steps import Steps


class Norms(Steps):
    """Fails the test, inside this context, at the first step whose gradient norm is above a limit or not finite.

    The norm is the 2-norm over all gradients of the optimizer, as float64. Where nothing steps in the whole context,
    that of the gradients after each ``backward``. With ``late`` it fails at the end of the context.
    """

    def __init__(self, limit: float, late: bool = False) -> None:
        self.limit, self.late = limit, late
        self.steps = self.backwards = 0
        self.found = self.of_backward = ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        found = self.found if self.steps else self.of_backward
        if kind is None and found:
            pytest.fail(found)

    def before_backward(self, tensor: torch.Tensor) -> Callable[[], None]:
        leaves = [] if self.steps or self.of_backward else list(_leaves(tensor))

        def after() -> None:
            self.backwards += 1
            if leaves:
                self.of_backward = self._excess(leaves, f"after backward {self.backwards}")

        return after

    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        __tracebackhide__ = True
        if not self.found:
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            self.found = self._excess(parameters, f"at step {self.steps} of {type(optimizer).__name__}")
            self.steps += 1
            if self.found and not self.late:
                pytest.fail(self.found)

    def _excess(self, parameters: Iterable[torch.Tensor], where: str) -> str:
        norms = [(float(p.grad.detach().double().norm()), p) for p in parameters if p.grad is not None]
        norm = math.hypot(*(n for n, _ in norms)) if norms else 0.0
        if norm <= self.limit:
            return ""
        largest, parameter = max(norms, key=lambda one: math.inf if math.isnan(one[0]) else one[0])
        name = _name(parameter) or f"a parameter of shape {tuple(parameter.shape)}"
        return (
            f"the gradient norm is {norm:.4g} {where}, above max_grad_norm={self.limit:g}; "
            f"the largest part is that of {name}, {largest:.4g}"
        )


def _leaves(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The leaves of a tensor's graph that gather gradients."""
    left, seen = [tensor.grad_fn], set()
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            yield variable
        left += [before for before, _ in node.next_functions]


def _name(parameter: torch.Tensor) -> str:
    """The longest name by which a module that is alive holds a parameter; empty where none does."""
    names = [
        f"{type(module).__name__}.{name}"
        for module in gc.get_objects()
        if issubclass(type(module), torch.nn.Module)
        for name, held in module.named_parameters(remove_duplicate=False)
        if held is parameter
    ]
    return max(names, key=lambda name: name.count("."), default="")
