"""Lists of numbers that a tensor is made of, where some of the numbers are tensors: those are read, as ``item`` does."""

from __future__ import annotations

from functools import reduce
from numbers import Integral, Real
from typing import Any

import torch

from firstcause.check.dry.child.numbers import Number

# Functions that make a tensor of a list, and where the list stands.
AT = {"tensor": 0, "as_tensor": 0, "asarray": 0, "new_tensor": 1}


def read(name: str, args: Any, kwargs: Any) -> tuple[Any, Any, bool]:
    """The arguments without tensors in their list, and whether a number in it is made up.

    torch reads such elements behind the back of every mode, from data that there are none of.
    """
    at = AT.get(name, -1)
    if not 0 <= at < len(args) or not isinstance(args[at], (list, tuple)):
        return args, kwargs, False
    elements = _elements(args[at])
    made_up = any(isinstance(e, Number) for e in elements)
    tensors = [e for e in elements if isinstance(e, torch.Tensor)]
    # Of one with more elements, or with none, torch says itself what is wrong.
    if not tensors or any(t.numel() != 1 for t in tensors):
        return args, kwargs, made_up
    made_up |= any(getattr(t, "constant", None) is None for t in tensors)
    if kwargs.get("dtype") is None and name != "new_tensor":
        kwargs = {**kwargs, "dtype": reduce(torch.promote_types, map(_dtype, elements))}
    return (*args[:at], _plain(args[at]), *args[at + 1 :]), kwargs, made_up


def _elements(data: Any) -> list[Any]:
    if not isinstance(data, (list, tuple)):
        return [data]
    return [element for part in data for element in _elements(part)]


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(part) for part in data]
    return data.item() if isinstance(data, torch.Tensor) else data


def _dtype(element: Any) -> torch.dtype:
    """What an element asks for; what is no number asks for the least, and torch refuses it."""
    if isinstance(element, torch.Tensor):
        return element.dtype
    if isinstance(element, Real) and not isinstance(element, Integral):
        return torch.get_default_dtype()
    return torch.int64 if isinstance(element, Integral) and not isinstance(element, bool) else torch.bool
