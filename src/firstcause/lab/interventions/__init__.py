"""One change each, made in the sealed process of one arm: the counterfactual that tells causes apart.

Each module here holds a class ``Change``. Nothing else of the program differs from the run that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from firstcause.record.observe.recorder import Recorder


def with_gradient(optimizer: torch.optim.Optimizer) -> list[torch.nn.Parameter]:
    """The parameters of an optimizer that have a gradient."""
    return [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


class Intervention:
    """No change at all: what each change overrides one or two methods of, and the control arm itself."""

    def __init__(self, settings: dict[str, Any], recorder: Recorder) -> None:
        self.settings, self.recorder = settings, recorder

    def start(self) -> None:
        """At the fork: the model and the optimizer exist."""

    def values(self, values: dict[str, Any]) -> dict[str, Any]:
        """The names of the failing step's pass, before its body runs on them."""
        return values

    def loss(self, value: torch.Tensor) -> None:
        """What ``backward`` is about to be called on."""

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Gradients are complete; the optimizer has not yet stepped."""

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        """The optimizer has stepped."""

    def figures(self) -> dict[str, Any]:
        """More figures for the row of the step whose gradients are complete."""
        return {}

    def facts(self) -> dict[str, Any]:
        """What the change has seen of itself, for the arm's result."""
        return {}
