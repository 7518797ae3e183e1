"""The optimizers that a program has made, and what follows each backward pass. Sealed child only."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import torch


class Optimizers:
    """Every optimizer that lives now or is made later, in the order in which it was found."""

    def __init__(self) -> None:
        self.all: list[torch.optim.Optimizer] = []
        for one in gc.get_objects():
            if issubclass(type(one), torch.optim.Optimizer) and hasattr(one, "param_groups"):
                self.all.append(one)
        made = torch.optim.Optimizer.__init__

        def init(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
            made(optimizer, *args, **kwargs)
            if not any(optimizer is known for known in self.all):
                self.all.append(optimizer)

        torch.optim.Optimizer.__init__ = init

    def held(self) -> set[int]:
        """The ids of the parameters that any optimizer holds."""
        return {id(p) for optimizer in self.all for p in parameters(optimizer)}


def parameters(optimizer: torch.optim.Optimizer) -> Iterator[torch.nn.Parameter]:
    """The parameters of all groups of an optimizer."""
    for group in optimizer.param_groups:
        yield from group["params"]


def is_live(gradient: torch.Tensor | None) -> bool:
    """Whether there is a gradient, and not of zeros alone."""
    if gradient is None:
        return False
    plain = gradient._values() if gradient.layout is torch.sparse_coo else gradient
    return bool(plain.count_nonzero())


def figure_of(tensor: torch.Tensor) -> float:
    """A number that changes with the values, however the program writes them; ``.data`` moves no version counter."""
    return float(tensor.detach().double().abs().sum())


def has_gradient(optimizer: torch.optim.Optimizer) -> bool:
    """Whether any parameter of an optimizer has a gradient that is not zero."""
    return any(is_live(p.grad) for p in parameters(optimizer))


def after_backward(tell: Callable[[], None]) -> None:
    """Have ``tell`` called after each backward pass: ``Tensor.backward`` goes by this function of torch too."""
    backward = torch.autograd.backward

    def told(*args: Any, **kwargs: Any) -> None:
        backward(*args, **kwargs)
        tell()

    torch.autograd.backward = told
