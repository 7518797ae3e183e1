"""An exception that ended the program: a fault that the real run has too, or only an end of the dry run."""

from __future__ import annotations

import os
import re
import traceback
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.check.dry.child import autocast, tags
from firstcause.check.dry.child.fake import NotReal
from firstcause.check.dry.child.names import NAME, shown
from firstcause.check.dry.child.session import NOWHERE
from firstcause.errors import FirstcauseError

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Place, Session

# Of a graph that is searched.
MOST_NODES = 20_000
FLAT = ("flatten", "view", "reshape")
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d")
# What is raised where a list is too short, or a name was never given.
BY_WHAT_IS_MISSING = (
    LookupError,
    ValueError,
    StopIteration,
    ArithmeticError,
    AssertionError,
    TypeError,
    AttributeError,
    NameError,
    FileNotFoundError,
)

OF_SIZES = (
    "batchnorm-small-batch",
    "conv-channel-mismatch",
    "flatten-linear-mismatch",
    "ragged-samples-in-default-collate",
    "residual-shape-mismatch",
    "shape-mismatch",
)
# Functions all of whose tensors must be on one device; others take lengths or indices from the processor.
ON_ONE_DEVICE = frozenset(
    (  # noqa: SIM905
        "add __add__ __radd__ __iadd__ add_ sub __sub__ __rsub__ mul __mul__ __rmul__ mul_ div __truediv__ __rtruediv__ "
        "matmul __matmul__ mm bmm linear conv1d conv2d conv3d embedding cat concat stack einsum eq __eq__ ne __ne__ "
        "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss binary_cross_entropy binary_cross_entropy_with_logits "
        "layer_norm batch_norm group_norm baddbmm scaled_dot_product_attention"
    ).split()
)


def remember(error: Exception, name: str, args: Any, kwargs: Any, session: Session) -> None:
    """Keep with an exception which function of torch raised it, and of what."""
    if not hasattr(error, "fc_operands"):
        operands = [a for a in tree_leaves((args, kwargs)) if isinstance(a, torch.Tensor)]
        error.fc_function, error.fc_operands = name, operands  # type: ignore[attr-defined]
        error.fc_place = session.place()  # type: ignore[attr-defined]
        error.fc_autocast = any(autocast.active)  # type: ignore[attr-defined]


def tell(error: BaseException, session: Session) -> str:
    """Report an exception of the program's, as a finding where it is sure; gives why it ended, for the note."""
    why = f"it raises {_kind(error)}: {shown(str(error).strip().partition(chr(10))[0])[:200]}"
    if isinstance(error, FirstcauseError):
        session.ended_by_cut = error.slug == "dry-load"
        return error.message
    operands = getattr(error, "fc_operands", None)
    if operands is None and session.was_cut and isinstance(error, BY_WHAT_IS_MISSING):
        # Not every list was filled, nor every name given.
        why += ", after loops that the dry run shortened"
        session.ended_by_cut = True
    if isinstance(error, (NotReal, NotImplementedError)):
        # What the emulated device cannot do.
        return shown(str(error).partition("\n")[0])[:200]
    if operands is None:
        return why
    slug = _slug(error, operands)
    shorter = any(getattr(t, "fc_cut", False) for t in operands)
    session.ended_by_cut |= shorter or session.data_were_cut
    if slug in OF_SIZES and (shorter or session.made_up_sizes):
        return why + ", of tensors whose sizes a dry run does not know"
    stepped = _stepped(error) if slug == "inplace-modified-saved-tensor" else NOWHERE
    if stepped[1]:
        place = getattr(error, "fc_place", NOWHERE)
        text = (
            "an optimizer steps between a forward and the backward that goes through it: backward raises, since the "
            f"weights are no longer those of the forward: {_first_line(error)}"
        )
        session.find("optimizer-step-before-backward", "critical", text, stepped, (place,))
    elif slug == "inplace-modified-saved-tensor":
        place = session.changes.get(_size(error), NOWHERE)
        backward = getattr(error, "fc_place", NOWHERE)
        text = f"what backward needs was changed in place, and backward raises: {_first_line(error)}"
        session.find(slug, "critical", text, place if place[1] else backward, (backward,))
    elif slug:
        function = getattr(error, "fc_function", "")
        given = f" gets {_described(operands)}, and" if operands else ""
        text = f"{_function(function)}{given} raises: {_first_line(error)}"
        text += _producers(operands, session)
        related = tuple(dict.fromkeys(p for p in map(tags.made_at, operands) if p[1]))
        session.find(slug, "critical", text, getattr(error, "fc_place", None), related)
    return why


def _slug(error: BaseException, operands: list[Any]) -> str:
    text, name = str(error).lower(), getattr(error, "fc_function", "")
    if "torch.utils.checkpoint" in text:
        # What was computed again differs: by chance, or by something kept from the first time. Only the note says it.
        return ""
    if "expected more than 1 value per channel" in text:
        return "batchnorm-small-batch"
    if "second time" in text and "backward" in text:
        return "graph-reused-across-iterations"
    if "modified by an inplace operation" in text:
        return "inplace-modified-saved-tensor"
    if "does not require grad" in text:
        # Told by the watcher of detached losses, which knows why.
        return ""
    sized = [t for t in operands if t.dim()]
    devices = {t.device.type for t in sized}
    if len(devices) > 1 and "device" in text:
        return "device-mismatch" if NAME in devices and name in ON_ONE_DEVICE else ""
    floats = {t.dtype for t in operands if t.dtype.is_floating_point}
    if "dtype" in text or "scalar type" in text or "expected scalar" in text:
        if torch.float64 in floats and len(floats) > 1:
            return "dtype-double-vs-float"
        # Which functions autocast casts is known here in the main only.
        return "" if getattr(error, "fc_autocast", False) else "dtype-wrong-for-op"
    if not any(word in text for word in ("shape", "size", "dim", "channel", "stride", "broadcast", "match")):
        return ""
    if name == "stack" and _in_collate(error):
        return "ragged-samples-in-default-collate"
    if name == "linear":
        return "flatten-linear-mismatch" if operands[0].__dict__.get("fc_by") in FLAT else "shape-mismatch"
    if name in CONVOLUTIONS:
        return "conv-channel-mismatch" if "channel" in text else "shape-mismatch"
    if (
        name in ("add", "__add__", "__iadd__", "add_")
        and len(sized) == 2
        and all(t.dim() >= 3 for t in sized)
    ):
        return "residual-shape-mismatch"
    return "shape-mismatch"


def _size(error: BaseException) -> tuple[int, ...]:
    """The size of the tensor that a failed backward names."""
    changed = re.search(r"Tensor \[([\d, ]*)\]", str(error))
    return tuple(int(size) for size in changed[1].split(",") if size.strip()) if changed else ()


def _stepped(error: BaseException) -> Place:
    """Where the parameter that a failed backward says was changed has been stepped last; NOWHERE if it is none."""
    root, shape = getattr(error, "fc_root", None), _size(error)
    if not shape or not isinstance(root, torch.Tensor):
        return NOWHERE
    waiting: list[Any] = [root.grad_fn]
    seen: set[Any] = set()
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        place: Place = getattr(getattr(node, "variable", None), "fc_stepped", NOWHERE)
        # A matrix is kept for backward as its transpose.
        if place[1] and sorted(node.variable.shape) == sorted(shape):
            return place
        waiting += [following for following, _ in node.next_functions]
    return NOWHERE


def _in_collate(error: BaseException) -> bool:
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(file.endswith(os.path.join("_utils", "collate.py")) for file in files)


def _kind(error: BaseException) -> str:
    # The emulation has classes of its own for what torch raises as this.
    return "RuntimeError" if type(error).__module__.startswith("torch") else type(error).__name__


def _function(name: str) -> str:
    return {"__add__": "+", "__sub__": "-", "__mul__": "*", "__matmul__": "@", "__truediv__": "/"}.get(
        name, name
    )


def _described(operands: list[Any]) -> str:
    return " and ".join(
        f"{list(t.shape)} {str(t.dtype).removeprefix('torch.')} on {shown(t.device.type)}"
        for t in operands[:3]
    )


def _first_line(error: BaseException) -> str:
    return shown(str(error).strip().partition("\n")[0])[:160]


def _producers(operands: list[Any], session: Session) -> str:
    made = [(t, tags.made_at(t)) for t in operands]
    said = [f"{list(t.shape)} comes from line {place[1]}" for t, place in made if place[1]]
    return "; " + ", ".join(dict.fromkeys(said)) if said else ""


def where(error: BaseException, session: Session) -> Place:
    """The innermost line of the user's in a traceback."""
    found: Place = ("", 0)
    for frame, line in traceback.walk_tb(error.__traceback__):
        if session.owns(frame.f_code.co_filename):
            found = frame.f_code.co_filename, line
    return found
