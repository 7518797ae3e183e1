"""Steps without an optimizer: parameters that the program changes itself, once gradients were computed for them."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child import autocast
from firstcause.check.dry.child.watcher import Watcher

# Under what the session counts them, beside the optimizers.
BY_HAND = 0


class ByHand(Watcher):
    """Counts a step, the first time that a parameter is changed after gradients were computed, and none was stepped."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.applied = 0

    def changed(self, tensors: list[Any], name: str) -> None:
        if self.session.gradients > self.applied and any(map(_is_parameter, tensors)):
            self.applied = self.session.gradients
            self.session.steps[BY_HAND] = self.session.steps.get(BY_HAND, 0) + 1
            autocast.used.clear()

    def stepped(self, optimizer: Any) -> None:
        # What changes parameters after that is an average or a limit of theirs.
        self.applied = self.session.gradients


def _is_parameter(tensor: Any) -> bool:
    """Whether it is a leaf that has a gradient, or was asked for one, or the ``.data`` of such a leaf."""
    whole = getattr(tensor, "fc_data_of", tensor)
    is_leaf = isinstance(whole, torch.Tensor) and whole.requires_grad and whole.is_leaf
    return is_leaf and (whole.grad is not None or hasattr(whole, "fc_asked"))
