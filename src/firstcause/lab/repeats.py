"""The calls behind a refusal made again with some tensors changed, up to the call that was refused.

What does not depend on a change keeps its recorded shape, its values too where they are small. Runs only in a
sealed child, after the step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from firstcause.lab.calls import WRITING, Call, Calls, Given

MOST_ELEMENTS = 20_000_000
RECURRENT = frozenset({"gru", "lstm", "rnn_tanh", "rnn_relu"})

# Tensors by call and output; a tensor that no call made by -1 and its identity.
Outputs = dict[tuple[int, int], torch.Tensor]
# Tensors by the identity of the argument that they stand for.
Operands = Mapping[int, torch.Tensor]


class Repeats:
    """The calls behind ``asked``, which the ``refused`` call was given.

    ``refused`` is None for a call of NumPy's; then ``target`` is the shape that its array should have had.
    """

    def __init__(
        self, calls: Calls, refused: Call | None, asked: list[Given], target: tuple[int, ...] | None = None
    ) -> None:
        self.refused, self.asked, self.target = refused, asked, target
        self.behind = [calls.calls[n] for n in sorted(calls.behind(asked))]
        self.all = calls.calls
        # A backward pass needs the graph of all that was before it.
        self.with_graph = refused is not None and refused.name == "backward"

    def said(self, outputs: Outputs, operands: Operands) -> str | None:
        """What the refused call says with some tensors changed; None where it passes."""
        values = dict(outputs)
        try:
            self.forward(values)
            if self.refused is not None:
                self.call(self.refused, values, operands)
                return None
            made = self.value(self.asked[0], values)
            if made is None or self.target is None:
                return "the array could not be made again"
            fits = torch.broadcast_shapes(made.shape, self.target) == self.target
            return None if fits else f"shape {tuple(made.shape)} does not fit {self.target}"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer to the change
            return said_by(error)

    def forward(self, values: Outputs) -> None:
        """Make the calls again that depend on ``values``, and add what they make to them."""
        fixed = set(values)
        for call in self.behind:
            depends = self.with_graph or any(key_of(g) in values for g in call.given())
            if (call.number, 0) not in fixed and depends:
                values.update({(call.number, i): t for i, t in enumerate(self.call(call, values, {}))})

    def call(self, call: Call, values: Outputs, operands: Operands) -> list[torch.Tensor]:
        """Make one call again; the tensors that it makes, or the one that it writes."""

        def resolved(x: Any) -> Any:
            if not isinstance(x, Given):
                return x
            value = operands.get(id(x))
            value = self.value(x, values) if value is None else value
            if value is None:
                raise MemoryError("a tensor is too large to be made again")
            return value

        args, kwargs = tree_map(resolved, call.args), tree_map(resolved, call.kwargs)
        if call.name in RECURRENT:
            args = _with_state(args)
        with torch.set_grad_enabled(self.with_graph and call.grad):
            result = call.function(*args, **kwargs)
        if call.name in WRITING:
            return [args[0]]
        return [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]

    def value(self, given: Given, values: Outputs) -> torch.Tensor | None:
        """A tensor as it is after the change, or as it was, or zeros of its shape; None where it is too large."""
        changed = values.get(key_of(given))
        if changed is not None:
            return changed
        if math.prod(given.shape) > MOST_ELEMENTS:
            return None
        if given.kept is None:
            return self.filled(given.shape, given.dtype)
        # A copy: calls that write in place are made more than once.
        needs_gradient = self.with_graph and given.made is None and given.kept.requires_grad
        return given.kept.detach().clone().requires_grad_(needs_gradient)

    def filled(self, shape: Any, dtype: torch.dtype) -> torch.Tensor:
        """Zeros in the place of what a call made, part of the graph where there has to be one."""
        made = torch.zeros(tuple(shape), dtype=dtype)
        return made.requires_grad_(self.with_graph and made.is_floating_point())


def key_of(given: Given) -> tuple[int, int]:
    return given.made if given.made is not None else (-1, id(given.kept))


def said_by(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _with_state(args: Any) -> Any:
    """The arguments of a recurrent layer, with an initial state for as many samples as its input has now."""
    states, batch_first = args[1], args[-1]
    if not isinstance(batch_first, bool) or args[0].dim() != 3:
        # Packed sequences, and samples without a batch axis.
        return args
    count = args[0].shape[0 if batch_first else 1]
    return (args[0], tree_map(lambda s: s.new_zeros(s.shape[0], count, s.shape[2]), states), *args[2:])
