"""Tensors that hold the values of another one in another shape, order or selection, known by the object that they are."""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

import torch
from torch.utils._pytree import tree_leaves

T = TypeVar("T")
SAME_VALUES = frozenset(
    {
        "view",
        "reshape",
        "flatten",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
        "getitem",
        "contiguous",
        "clone",
    }
    | {
        "to",
        "float",
        "double",
        "half",
        "expand",
        "t",
        "movedim",
        "swapaxes",
        "select",
        "narrow",
        "view_as",
        "unflatten",
    }
    | {
        "long",
        "int",
        "type",
        "split",
        "chunk",
        "unbind",
        "index_select",
        "masked_select",
        "swapdims",
        "reshape_as",
    }
)


class Derived(Generic[T]):
    """What is known of a tensor, and of those made from it by ``SAME_VALUES``; nothing is kept alive."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[weakref.ref[torch.Tensor], T]] = {}

    def note(self, tensor: torch.Tensor, what: T) -> None:
        if len(self.known) > 4096:
            self.known = {k: v for k, v in self.known.items() if v[0]() is not None}
        self.known[id(tensor)] = (weakref.ref(tensor), what)

    def of(self, value: Any) -> T | None:
        found = self.known.get(id(value))
        # The number of an object that is gone may be that of another one now.
        return found[1] if found is not None and found[0]() is value else None

    def follow(self, name: str, args: tuple[Any, ...], result: Any) -> T | None:
        """Hand on what is known of the first argument where the call only moves values about; what was handed on."""
        what = self.of(args[0]) if args and name in SAME_VALUES else None
        if what is not None:
            for part in tree_leaves(result):
                if isinstance(part, torch.Tensor):
                    self.note(part, what)
        return what
