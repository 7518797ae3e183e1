"""Who writes into which memory in a replayed pass: ops by what their schema says, and the optimizers' steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from firstcause.lab import places
from firstcause.lab.saved_values import storage_of

if TYPE_CHECKING:
    from firstcause.lab.trace import Trace

MOST_WRITES = 20_000
SHOWN = 8
Written = list[tuple[torch.Tensor, int]]


class Writes:
    """Every write by the storage that it goes to, in order, each with the version before it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.steps: list[dict[str, Any]] = []
        self.gradients: set[int] = set()
        self._of_gradient: set[int] = set()
        self._by_storage: dict[int, list[dict[str, Any]]] = {}
        self._count = 0
        self._stepping: int | None = None
        self._undo: list[Callable[[], None]] = []

    def attach(self) -> None:
        pre = register_optimizer_step_pre_hook(self._step_begins)
        post = register_optimizer_step_post_hook(self._step_ends)
        self._undo = [pre.remove, post.remove]

    def detach(self) -> None:
        for undo in self._undo:
            undo()
        self._undo = []

    def _step_begins(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._stepping = len(self.steps)
        self.steps.append(
            {
                "optimizer": type(optimizer).__name__,
                "site": places.of_frame(sys._getframe(1), columns=True),
                "before_op": len(self.trace.ops),
            }
        )

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._stepping = None

    def after_op(
        self, number: int, given: list[torch.Tensor], made: list[torch.Tensor], written: Written
    ) -> None:
        """Called after an op: its writes, and whether what it gives is made of gradients, as an update by hand is."""
        of_gradient = False
        if self.gradients and not torch.is_grad_enabled():
            known = self.gradients | self._of_gradient
            of_gradient = any(storage_of(t) in known for t in given)
            if of_gradient and not written:
                self._of_gradient.update(s for t in made if (s := storage_of(t)) is not None)
        for tensor, version in written:
            storage = storage_of(tensor)
            if storage is None or self._count >= MOST_WRITES:
                continue
            self._count += 1
            place = None if self._stepping is not None else places.of_frame(sys._getframe(3), columns=True)
            self._by_storage.setdefault(storage, []).append(
                {
                    "number": number,
                    "version": version,
                    "step": self._stepping,
                    "of_gradient": of_gradient,
                    "running": self.trace.modules.innermost(),
                    "place": place,
                }
            )

    def since(self, storage: int | None, version: int) -> list[dict[str, Any]]:
        """The writes into a storage from a version on, the first ones in plain facts."""
        writes = self._by_storage.get(storage, []) if storage is not None else []
        return [self._describe(w) for w in writes if w["version"] >= version]

    def _describe(self, write: dict[str, Any]) -> dict[str, Any]:
        op = self.trace.ops[write["number"]]
        return {
            "op": op["op"],
            "site": write["place"] or op["site"],
            "phase": op["phase"],
            "module": op["module"],
            "running": write["running"],
            "version": write["version"],
            "of_gradient": write["of_gradient"],
            "grad": op["grad"],
            "step": self.steps[write["step"]] if write["step"] is not None else None,
            "before_op": write["number"],
        }


_places: dict[Any, tuple[tuple[int, str], ...]] = {}


def written_by(func: Any, args: Any, kwargs: Any) -> Written:
    """The tensors that an op's schema says that it writes, each with its version now."""
    where = _places.get(func)
    if where is None:
        where = _places[func] = tuple(
            (i, a.name)
            for i, a in enumerate(func._schema.arguments)
            if a.alias_info is not None and a.alias_info.is_write
        )
    found: Written = []
    for position, name in where:
        value = args[position] if position < len(args) else kwargs.get(name)
        tensors = value if isinstance(value, (list, tuple)) else [value]
        found += [(t, _version(t)) for t in tensors if isinstance(t, torch.Tensor)]
    return found


def _version(tensor: torch.Tensor) -> int:
    # A tensor made in inference mode has no version; nothing saves it either.
    return 0 if tensor.is_inference() else tensor._version
