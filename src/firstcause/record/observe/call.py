"""One call of a model: what was called, with what, and what it gave."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from firstcause.record.observe.kept import tensors_in

OUTPUTS = 8
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


class Call:
    """One call: what is called, with what, and the random numbers' state before it."""

    __slots__ = ("arguments", "frame_id", "function", "hosts", "number", "owner", "rng", "s", "versions")

    def __init__(self, s: int, function: Any, owner: Any, frame_id: int) -> None:
        self.s, self.function, self.owner, self.frame_id = s, function, owner, frame_id
        self.arguments: list[tuple[int | str, Any]] = []
        self.versions: list[tuple[torch.Tensor, int]] = []
        self.hosts: dict[int, torch.Tensor] = {}
        self.rng = {"torch": torch.get_rng_state()}
        self.number = 0
        if on_live_device():
            self.rng["cuda"] = torch.cuda.get_rng_state()

    def written(self) -> bool:
        """Whether an input was written in place since the call began."""
        return any(t._version != version for t, version in self.versions)

    def split(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments, as the call got them."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for key, value in self.arguments:
            if key == "*":
                positional += value
            elif key == "**":
                keywords |= dict(value)
            elif isinstance(key, int):
                positional.append(value)
            else:
                keywords[key] = value
        return positional, keywords


def outputs_of(value: Any) -> Iterator[torch.Tensor]:
    """The first floating tensors of what a call gave."""
    found = 0
    for tensor in tensors_in(value):
        plain = tensor.layout is torch.strided and tensor.device.type == "cpu" and tensor.numel()
        if plain and tensor.dtype in FLOATS and has_values(tensor):
            yield tensor
            found += 1
            if found == OUTPUTS:
                return


def has_values(tensor: torch.Tensor) -> bool:
    """Whether a tensor's values may be read: not of a fake one or another subclass, and not inside ``torch.func``."""
    plain = type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter
    return plain and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def on_live_device() -> bool:
    """Whether CUDA is in use, and not just being recorded into a graph, of which a copy of ours would be a part."""
    return torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing()


def is_bad(output: torch.Tensor) -> bool:
    """Whether an output holds NaN or positive infinity; negative infinity is how a mask is written.

    The greatest value tells it in one pass: NaN is carried on, and minus infinity is never the greatest.
    """
    return not float(output.detach().amax()) < math.inf
