"""The backwards and steps of a training in this process: seen as they happen, and not changed."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook


class Steps:
    """A context that is told of each ``backward`` and each optimizer's step inside it."""

    def __enter__(self) -> None:
        self._hook = register_optimizer_step_pre_hook(self.before_step)
        self._backward = torch.Tensor.backward
        before = self._backward

        def backward(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            after = self.before_backward(tensor)
            result = before(tensor, *args, **kwargs)
            if after is not None:
                after()
            return result

        torch.Tensor.backward = backward

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hook.remove()
        torch.Tensor.backward = self._backward

    def before_backward(self, tensor: torch.Tensor) -> Callable[[], None] | None:
        """Told of the tensor; what it returns is called after the backward, unless that raises."""
        raise NotImplementedError

    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        """Told of the optimizer, with the gradients that it is about to use."""
        raise NotImplementedError
