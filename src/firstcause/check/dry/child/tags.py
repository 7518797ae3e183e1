"""What a tensor is known to be, carried through functions that keep it so: probabilities, logarithms, a layer's output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

MADE_BY = {
    "softmax": "softmax",
    "_softmax": "softmax",
    "log_softmax": "log-softmax",
    "_log_softmax": "log-softmax",
    "logsigmoid": "log-sigmoid",
    "sigmoid": "sigmoid",
    "sigmoid_": "sigmoid",
    "linear": "linear",
    "conv1d": "linear",
    "conv2d": "linear",
    "conv3d": "linear",
}
# Functions that change where a value stands, or how it is kept, and not what it is.
KEEPS = frozenset(
    (  # noqa: SIM905
        "view reshape flatten unflatten squeeze unsqueeze transpose permute contiguous float to half "
        "double bfloat16 type type_as __getitem__ clone expand movedim swapaxes T mT t narrow select "
        "index_select gather take_along_dim cpu view_as"
    ).split()
)
JOINS = frozenset(
    ("cat concat concatenate stack hstack vstack row_stack dstack tensor as_tensor pad_sequence").split()  # noqa: SIM905
)


def tag(tensor: Any) -> str:
    """softmax, log-softmax, sigmoid, linear (a layer's plain output), or empty."""
    return str(getattr(tensor, "fc_tag", ""))


def carry(session: Session, name: str, args: Any, out: Any) -> None:
    """Mark the output of a function: its kind, the line that made it, and whether a shortened loop made it shorter."""
    first = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if name in MADE_BY:
        kind = MADE_BY[name]
    elif name in KEEPS and first is not None:
        kind = tag(first)
    else:
        kind = ""
    out.fc_tag = kind
    out.fc_by = (
        name
        if name not in KEEPS or first is None or name in ("flatten", "view", "reshape")
        else first.__dict__.get("fc_by", name)
    )
    out.fc_spread = _is_spread(name, args) or (name in KEEPS and getattr(first, "fc_spread", False))
    out.fc_at = session.place()
    cut = session.was_cut and name in JOINS
    out.fc_cut = cut or any(getattr(a, "fc_cut", False) for a in args if isinstance(a, torch.Tensor))


def _is_spread(name: str, args: Any) -> bool:
    """Whether a dimension was inserted on purpose."""
    if name != "__getitem__" or len(args) < 2:
        return name in ("unsqueeze", "expand")
    index = args[1] if isinstance(args[1], tuple) else (args[1],)
    return any(i is None for i in index)


def made_at(tensor: Any) -> tuple[str, int]:
    place = getattr(tensor, "fc_at", ("", 0))
    return place[0], place[1]
