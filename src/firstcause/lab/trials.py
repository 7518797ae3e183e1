"""What is changed, one thing at a time, to see with what a refused call would have passed."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.lab.calls import Call, Given
from firstcause.lab.repeats import Operands, Outputs, Repeats, key_of, said_by

SECONDS = 4.0
ELEMENTWISE = frozenset(
    {
        "add", "sub", "rsub", "mul", "div", "true_divide", "rdiv", "rtruediv", "truediv", "pow", "rpow", "maximum",
        "minimum", "iadd", "isub", "imul", "itruediv", "add_", "sub_", "mul_", "div_", "radd", "rmul", "eq", "ne",
        "lt", "le", "gt", "ge",
    }
)  # fmt: skip
DTYPES = (torch.float32, torch.int64, torch.bool)


@dataclass(frozen=True)
class Change:
    """One change in plain facts, and the tensors that it puts in the place of others."""

    facts: dict[str, Any]
    outputs: Outputs = field(default_factory=dict)
    operands: Operands = field(default_factory=dict)


def try_all(repeats: Repeats, error: BaseException) -> list[dict[str, Any]]:
    """What was tried, each with ``passes`` and what was said ``instead``; empty where a plain repeat is not refused alike."""
    said = repeats.said({}, {})
    if said is None or (repeats.refused is not None and _worded(said) != _worded(said_by(error))):
        return []
    found, deadline = [], time.monotonic() + SECONDS
    for change in _changes(repeats):
        if time.monotonic() > deadline:
            break
        said = repeats.said(change.outputs, change.operands)
        found.append(change.facts | {"passes": said is None, "instead": (said or "").splitlines()[:1]})
    return found


def _worded(said: str) -> str:
    """A message without its numbers: a tensor that was replaced by zeros may count others."""
    return re.sub(r"\d+", "0", said.partition("\n")[0])


def _changes(repeats: Repeats) -> Iterator[Change]:
    twice = _twice(repeats)
    grown = _grown(repeats, twice)
    for call in repeats.behind:
        if call.name in ("squeeze", "squeeze_"):
            yield from _unsqueezed(repeats, call, grown)
        yield from _aligned(repeats, call)
    if twice:
        yield Change({"change": "batch"}, twice)
    if repeats.refused is not None:
        yield from _aligned_operands(repeats, repeats.refused)
        yield from _operands(repeats, repeats.refused)


# ------------------------------------------------------------------ earlier calls


def _unsqueezed(repeats: Repeats, call: Call, grown: Outputs) -> Iterator[Change]:
    """Each axis that a squeeze takes, kept."""
    given = next(call.given())
    sizes = given.shape
    named = tree_leaves([a for a in (*call.args[1:], *call.kwargs.values()) if not isinstance(a, Given)])
    axes = [a % len(sizes) for a in named if isinstance(a, int)] if named and sizes else range(len(sizes))
    dropped = [a for a in axes if sizes[a] == 1]
    bigger = grown.get(key_of(given))
    known = bigger.shape if bigger is not None and bigger.dim() == len(sizes) else sizes
    batch = [i for i, size in enumerate(sizes) if known[i] != size] or _varying(repeats, call, sizes)
    for axis in dropped:
        kept = [s for i, s in enumerate(sizes) if i == axis or i not in dropped]
        facts = {
            "change": "squeeze",
            "call": call.number,
            "axis": axis,
            "dropped": dropped,
            "named": bool(named),
        }
        facts |= {
            "shape": list(sizes),
            "batch_axis": batch[0] if len(batch) == 1 else None,
            "one_sample": bool(grown or batch),
        }
        yield Change(facts, {(call.number, 0): repeats.filled(kept, given.dtype)})


def _varying(repeats: Repeats, call: Call, sizes: Sequence[int]) -> list[int]:
    """The axes of size 1 that the same line was given larger before, as the batches of a loader but for the last."""
    # Calls of other batches too, where several were replayed.
    same = [c for c in repeats.all if c.name == call.name and c.site == call.site and c is not call]
    shapes = [next(c.given()).shape for c in same]
    return [
        i
        for i, size in enumerate(sizes)
        if size == 1 and any(len(s) == len(sizes) and s[i] > 1 for s in shapes)
    ]


def _aligned(repeats: Repeats, call: Call) -> Iterator[Change]:
    """Each of two operands of the same values but for axes of size 1, given the other's shape."""
    for facts, operands in _alignments(repeats, call, call.number):
        try:
            made = repeats.call(call, {}, operands)
        except Exception:  # noqa: BLE001 - a call that refuses the other shape is no way out
            made = []
        if made:
            yield Change(facts, {(call.number, i): t for i, t in enumerate(made)})


def _alignments(repeats: Repeats, call: Call, number: int) -> Iterator[tuple[dict[str, Any], Operands]]:
    pair = _pair(call)
    for i, operand in enumerate(pair or ()):
        value = repeats.value(operand, {})
        if pair is not None and value is not None:
            other = pair[1 - i].shape
            facts = {"change": "align", "call": number, "operand": i, "shape": list(operand.shape)}
            yield facts | {"other": list(other), "loss": is_loss(call)}, {id(operand): value.reshape(other)}


def _pair(call: Call) -> tuple[Given, Given] | None:
    """Two operands that hold as many values each, in shapes that differ by axes of size 1."""
    if call.name not in ELEMENTWISE and not is_loss(call):
        return None
    first = [x for x in (*call.args[:2], *call.kwargs.values()) if isinstance(x, Given)][:2]
    if len(first) < 2 or first[0].shape == first[1].shape or math.prod(first[0].shape) < 2:
        return None
    one, other = ([s for s in g.shape if s != 1] for g in first)
    return (first[0], first[1]) if one == other else None


def is_loss(call: Call) -> bool:
    """Whether a call compares a prediction with a target, as torch's losses are named."""
    name = call.name
    return name.endswith("_loss") or name in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
    )


# ------------------------------------------------------------------ the step's data


def _twice(repeats: Repeats) -> Outputs:
    """The step's inputs of one sample with that sample twice: what no module holds, and rows taken in the step."""
    found: Outputs = {}
    for given in [g for call in repeats.behind for g in call.given()] + repeats.asked:
        is_input = given.made is None and "parameter" not in given.origin and given.kept is not None
        if is_input and given.kept is not None and given.shape[:1] == (1,) and given.device != "meta":
            found[key_of(given)] = torch.cat([given.kept, given.kept]).detach()
    for call in repeats.behind:
        first = next(call.given(), None)
        if call.name != "getitem" or call.module or first is None or first.shape[:1] in ((), (1,)):
            continue
        if call.made[0]["shape"][:1] == [1]:
            sizes = [2, *call.made[0]["shape"][1:]]
            found[(call.number, 0)] = repeats.filled(sizes, getattr(torch, call.made[0]["dtype"]))
    return found


def _grown(repeats: Repeats, twice: Outputs) -> Outputs:
    """Every tensor behind the refusal as it would have been with the sample twice; empty where there is more than one."""
    values = dict(twice)
    try:
        if twice:
            repeats.forward(values)
    except Exception:  # noqa: BLE001 - sizes worked out in Python stay those of one sample: what came before them tells
        return values
    return values


# ------------------------------------------------------------------ operands of the refused call


def _aligned_operands(repeats: Repeats, call: Call) -> Iterator[Change]:
    for facts, operands in _alignments(repeats, call, -1):
        yield Change(facts, {}, operands)


def _operands(repeats: Repeats, call: Call) -> Iterator[Change]:
    """Another dtype, order of axes or device for each operand that is no parameter; float32 for all that are float64."""
    given = list(enumerate(call.given()))
    values = [(k, g, repeats.value(g, {})) for k, g in given]
    for number, operand, value in values:
        if value is not None and "parameter" not in operand.origin:
            yield from _of_operand(number, operand, value)
    # A layer's weight and bias are of one type, and only both together pass.
    doubles = {id(g): v.float() for _, g, v in values if v is not None and g.dtype is torch.float64}
    if doubles:
        yield Change({"change": "all-double"}, {}, doubles)
    meta = [(k, g) for k, g in given if g.device == "meta"]
    if meta:
        facts = {"change": "device", "operands": [k for k, _ in meta]}
        yield Change(facts, {}, {id(g): repeats.filled(g.shape, g.dtype) for _, g in meta})


def _of_operand(number: int, operand: Given, value: torch.Tensor) -> Iterator[Change]:
    def change(kind: str, changed: torch.Tensor) -> Change:
        return Change({"change": kind, "operand": number}, {}, {id(operand): changed})

    for dtype in DTYPES:
        if dtype is not operand.dtype:
            cast = change("dtype", value.to(dtype))
            cast.facts.update({"from": str(operand.dtype)[6:], "to": str(dtype)[6:]})
            yield cast
    if value.dim() > 2:
        yield change("channels-first", value.movedim(-1, 1))
        yield change("channel-axis", value.unsqueeze(1))
    if value.dim() > 1:
        yield change("transpose", value.transpose(-1, -2))
    if value.dim() and value.shape[0] == 1:
        yield change("twice", torch.cat([value, value]))
