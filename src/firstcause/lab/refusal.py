"""The op that refused its input: its operands, what made them, and the modules that were running."""

from __future__ import annotations

from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.lab import places, tensors
from firstcause.lab.op_names import name_of_op

if TYPE_CHECKING:
    from firstcause.lab.trace import Trace

SHOWN = 8


def describe_refusal(trace: Trace, func: Any, args: Any, kwargs: Any, error: BaseException) -> dict[str, Any]:
    """Plain facts about the op that raised; without an op, about the frames of the exception alone."""
    operands = [x for x in tree_leaves((args, kwargs)) if isinstance(x, (torch.Tensor, int, float))]
    modules = trace.modules.stack() or _modules_of(trace, error)
    name = name_of_op(func) if func is not None else None
    return {
        "op": name,
        "error": str(error),
        "type": type(error).__name__,
        "site": places.here() if func is not None else _last_user(error),
        "operands": [_operand(trace, x) for x in operands],
        "modules": modules,
        "index": _index(name, args),
    }


def _operand(trace: Trace, value: Any) -> Any:
    figures = tensors.figures(value)
    return figures | trace.origin(value) if isinstance(value, torch.Tensor) else figures


def _index(name: str | None, args: Any) -> dict[str, Any] | None:
    """For a lookup: the table's rows, and which of the ids lie outside of it."""
    if name in ("embedding", "_embedding_bag", "_embedding_bag_forward_only"):
        rows, ids = int(args[0].shape[0]), args[1]
    elif name in ("nll_loss_forward", "nll_loss2d_forward", "nll_loss_nd"):
        rows, ids = int(args[0].shape[1 if args[0].dim() > 1 else 0]), args[1]
    elif name == "gather":
        rows, ids = int(args[0].shape[args[1]]) if args[0].dim() else 1, args[2]
    else:
        return None
    has_label = name not in ("embedding", "gather") and len(args) > 4 and isinstance(args[4], int)
    ignored = args[4] if has_label else None
    outside = (ids < 0) | (ids >= rows)
    if ignored is not None:
        outside &= ids != ignored
    places_of = torch.nonzero(outside)
    return {
        "rows": rows,
        "min": int(ids.min()),
        "max": int(ids.max()),
        "outside": len(places_of),
        "total": ids.numel(),
        "values": sorted({int(v) for v in ids[outside].unique()[:SHOWN]}),
        "at": [[int(i) for i in p] for p in places_of[:SHOWN]],
        "ignored": ignored,
    }


def _modules_of(trace: Trace, error: BaseException) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for frame, _ in walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module) and (
            not found or found[-1]["path"] != trace.modules.path_of(owner)
        ):
            found.append(trace.modules.describe(owner))
    return found


def _last_user(error: BaseException) -> dict[str, Any] | None:
    found = None
    for frame, line in walk_tb(error.__traceback__):
        if places.is_user_file(frame.f_code.co_filename):
            found = places.place(frame.f_code.co_filename, line, frame.f_code.co_name)
    return found
