"""Tensors without data that are made anew of their parts: by pickle, by copy, and by libraries that call their class.

``type(parameter)(data, **parameter.__dict__)`` is how libraries keep a parameter's own kind where they replace its data.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from firstcause.check.dry.child.names import NAME, SEEN_AS

if TYPE_CHECKING:
    from firstcause.check.dry.child.fake import Mode

# What the dry run and torch keep with a tensor beside a fresh one's attributes.
OURS = ("_is_param", "requires_grad", "hint")
_fresh: set[str] = set(OURS)


def install(mode: Mode) -> None:
    with mode:
        _fresh.update(vars(torch.empty(0)))
    new = FakeTensor.__new__

    def made(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], torch.Tensor):
            return _alike(args[0], kwargs)
        return new(cls, *args, **kwargs)

    FakeTensor.__new__ = made
    FakeTensor.__copy__ = lambda tensor: _alike(
        tensor, {**vars(tensor), "requires_grad": tensor.requires_grad}
    )
    copyreg.pickle(FakeTensor, _parts)


def _alike(data: Any, state: Any) -> Any:
    """These data as a tensor of the kind that the state is from: a parameter, and with the attributes it was given."""
    trained = state.get("requires_grad", data.requires_grad)
    if state.get("_is_param"):
        tensor: Any = torch.nn.Parameter(data, trained)
    else:
        tensor = data.detach().requires_grad_(trained)
    vars(tensor).update(_given(state))
    return tensor


def _given(state: Any) -> dict[str, Any]:
    """The attributes that the program gave a tensor; ours stay with the one that they describe."""
    return {k: v for k, v in state.items() if k not in _fresh and not k.startswith(("fc_", "_fake"))}


def _parts(tensor: Any) -> Any:
    state = {**_given(vars(tensor)), "requires_grad": tensor.requires_grad}
    state["_is_param"] = isinstance(tensor, torch.nn.Parameter)
    device = tensor.device.type
    shape, stride = tuple(tensor.shape), tuple(tensor.stride())
    return _again, (
        shape,
        stride,
        tensor.dtype,
        SEEN_AS if device == NAME else device,
        _values(tensor),
        state,
    )


def _values(tensor: Any) -> Any:
    if tensor.constant is None:
        return None
    with unset_fake_temporarily():
        return tensor.constant.tolist()


def _again(shape: Any, stride: Any, dtype: torch.dtype, device: str, values: Any, state: Any) -> Any:
    if values is None:
        return _alike(torch.empty_strided(shape, stride, dtype=dtype, device=device), state)
    return _alike(torch.tensor(values, dtype=dtype).reshape(shape), state)
