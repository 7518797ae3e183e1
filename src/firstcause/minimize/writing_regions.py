"""The definitions that a script needs for a checkpointed block or an autograd Function, as a person would write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from firstcause.minimize.program import Call, Program, Ref
from firstcause.minimize.regions import Checkpointed, Custom, Region

if TYPE_CHECKING:
    from firstcause.minimize.writing import Writer

# Longer expressions have a name of their own.
WITHIN = 40
# What stands in brackets; and brackets in brackets with nothing else between them.
BRACKETED = re.compile(r"\(.*\)")
BRACKETS = re.compile(r"\(\(([^()]*)\)\)")
CHECKPOINT = "from torch.utils.checkpoint import checkpoint"


class Body:
    """The lines of one run inside of a region, with names of its own."""

    def __init__(self, outer: Writer, names: dict[int, str]) -> None:
        self.outer = outer
        self.writer = type(outer)(Program({}, ()), outer.failure)
        self.writer.modules = outer.modules
        self.writer.names = dict(names)
        self.writer.taken |= set(names.values())

    def lines(
        self, calls: tuple[Call, ...], returned: tuple[Any, ...], once: frozenset[int] = frozenset()
    ) -> list[str]:
        """``once``: numbers of values that stand within the expression that asks for them."""
        made = []
        for call in calls:
            text = self.writer.call(call)
            mine = once & {*call.outputs}
            if mine and len(text) <= WITHIN:
                within = f"({text})" if " " in BRACKETED.sub("", text) else text
                self.writer.names |= dict.fromkeys(mine, within)
                continue
            made.append(BRACKETS.sub(r"(\1)", self.writer.assigned(call, text)))
        values = [
            self.writer.names.get(x.number, "None") if isinstance(x, Ref) else repr(x) for x in returned
        ]
        if not values:
            return made or ["pass"]
        # A value that is made only to be returned needs no name.
        name, _, text = made[-1].partition(" = ") if made else ("", "", "")
        if text and values.count(name) == 1 and all(v == name or not v.startswith(name) for v in values):
            made, values = made[:-1], [text if v == name else v for v in values]
        return [*made, f"return {', '.join(values)}"]


def definition(outer: Writer, region: Region) -> tuple[str, list[str]]:
    """The name of the block or Function, and the lines that define it."""
    if isinstance(region, Checkpointed):
        name = outer.free("block")
        return name, list(_block(outer, region, name))
    assert isinstance(region, Custom)
    name = outer.free(region.name)
    return name, list(_function(outer, region, name))


def _named(numbers: tuple[int, ...]) -> dict[int, str]:
    words = ("x", "y", "z") if len(numbers) <= 3 else tuple(f"x{n + 1}" for n in range(len(numbers)))
    return dict(zip(numbers, words, strict=False))


def _once(calls: tuple[Call, ...], named: set[int]) -> frozenset[int]:
    """What one call makes and one later call asks for, where nothing is written in place and nothing is ``named``."""
    if any(call.name.endswith("_") and not call.name.endswith("__") for call in calls):
        return frozenset()
    asked = Counter(n for call in calls for n in call.inputs())
    made = [n for call in calls if len(call.outputs) == 1 for n in call.outputs if n is not None]
    return frozenset(n for n in made if asked[n] == 1 and n not in named)


def _block(outer: Writer, region: Checkpointed, name: str) -> Iterator[str]:
    names = _named(region.given)
    bodies = [
        Body(outer, names).lines(run, returned)
        for run, returned in zip(region.runs, region.returned, strict=True)
    ]
    head = f"def {name}({', '.join(names[n] for n in region.given)}):"
    if all(body == bodies[0] for body in bodies):
        yield head
        yield from (f"    {line}" for line in bodies[0])
        return
    times = outer.free("times")
    yield f"{times} = []"
    yield ""
    yield ""
    yield head
    yield f"    {times}.append(1)"
    for n, body in enumerate(bodies[:-1]):
        yield f"    if len({times}) == {n + 1}:  # {'forward' if n == 0 else 'recomputation'}"
        yield from (f"        {line}" for line in body)
    yield from (f"    {line}" for line in bodies[-1])


def _function(outer: Writer, region: Custom, name: str) -> Iterator[str]:
    names = _named(region.given)
    saved = region.saved()
    forward = Body(outer, names)
    named = {*saved, *(x.number for values in region.returned for x in values if isinstance(x, Ref))}
    lines = forward.lines(
        region.runs[0], region.returned[0] if not saved else (), _once(region.runs[0], named)
    )
    if saved:
        kept = ", ".join(forward.writer.names[n] for n in saved)
        values = ", ".join(
            forward.writer.names.get(x.number, "None") for x in region.returned[0] if isinstance(x, Ref)
        )
        lines = [*(x for x in lines if x != "pass"), f"ctx.save_for_backward({kept})", f"return {values}"]
    yield f"class {name}(torch.autograd.Function):"
    yield "    @staticmethod"
    yield f"    def forward(ctx, {', '.join(names[n] for n in region.given)}):"
    yield from (f"        {line}" for line in lines)
    arriving = {
        n: "grad" if len(region.arriving) == 1 else f"grad{k + 1}" for k, n in enumerate(region.arriving)
    }
    own = arriving | {n: names.get(n) or f"saved{k}" for k, n in enumerate(saved)}
    yield ""
    yield "    @staticmethod"
    yield f"    def backward(ctx, {', '.join(arriving.values())}):"
    if saved:
        held = ", ".join(own[n] for n in saved)
        yield f"        {held}{',' if len(saved) == 1 else ''} = ctx.saved_tensors"
    body = Body(outer, own).lines(region.runs[1], region.returned[1], _once(region.runs[1], named))
    yield from (f"        {line}" for line in body)
