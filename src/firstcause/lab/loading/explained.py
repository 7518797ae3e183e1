"""Samples that fail beside samples that do not: the first line after which they differ, and what is too short for it."""

from __future__ import annotations

from typing import Any

from firstcause.lab import places
from firstcause.lab.loading import frames
from firstcause.lab.loading.asked import Asked
from firstcause.lab.loading.lines import Lines
from firstcause.lab.statements import Statements
from firstcause.record.observe import rng

Facts = dict[str, Any]
# Of fewer good samples nothing can be called usual.
FEW = 3


def explain(asked: Asked, index: Any, good: list[Any]) -> Facts:
    """Facts: ``short``, ``first`` and ``smaller`` of one failing sample beside good ones; each may be missing.

    ``short`` is a slice or a difference of sizes that works out in all the others; ``first`` the first value whose size is
    one and the same in the others and another one here; ``smaller`` the names at the line that raised, smaller than in any other.
    """
    statements, state = Statements(), rng.global_state()
    looked: list[Lines] = []
    for one in (index, *good):
        rng.set_global_state(state)
        lines = Lines(statements)
        lines.fetch(lambda one=one: asked.fetch(one))
        looked.append(lines)
    bad, others = looked[0], [o for o in looked[1:] if o.error is None]
    if len(others) < FEW:
        return {}
    found: Facts = {"beside": len(others)}
    short = _short(bad, others)
    if short is not None:
        found["short"] = short
    first = _first(bad, others)
    if first is not None:
        found["first"] = first
    if bad.error is not None:
        found["smaller"] = _smaller(bad.error, others)
    return found


def _short(bad: Lines, others: list[Lines]) -> Facts | None:
    """The last thing that does not work out here: what failed comes right after it."""
    fine = set.union(*(o.fine for o in others))
    ever = {key for o in others for key in o.short}
    found = [f for key, f in bad.short.items() if key in fine and key not in ever]
    return found[-1] if found else None


def _first(bad: Lines, others: list[Lines]) -> Facts | None:
    usual: dict[tuple[str, str, str], list[list[int]]] = {}
    for lines in others:
        for place, name, size, _ in lines.made:
            usual.setdefault((place["file"], place["function"], name), []).append(size)
    for place, name, size, kind in bad.made:
        sizes = usual.get((place["file"], place["function"], name)) or []
        if len(sizes) < len(others):
            continue
        other = _differs(size, sizes)
        if other is not None:
            return {
                "site": place,
                "name": name,
                "size": size,
                "usual": sizes[0],
                "dimension": other,
                "kind": kind,
            }
    return None


def _differs(size: list[int], sizes: list[list[int]]) -> int | None:
    """The dimension in which a size differs from what all the others have; -1 where the number of dimensions does."""
    if len({len(s) for s in sizes}) != 1:
        return None
    if len(size) != len(sizes[0]):
        return -1
    same = [d for d in range(len(size)) if len({s[d] for s in sizes}) == 1]
    return next((d for d in same if size[d] != sizes[0][d]), None)


def _smaller(error: BaseException, others: list[Lines]) -> list[Facts]:
    """Names at the lines that the exception passed, innermost first, that are smaller here than in any other sample."""
    found: list[Facts] = []
    for frame, line in reversed(frames.own(error)):
        place = places.standing(frame) | {"line": line}
        key = f"{place['file']}:{line}"
        beside = [o.sizes[key] for o in others if key in o.sizes]
        if len(beside) < FEW:
            continue
        for name, size in frames.sizes(frame.f_locals).items():
            sizes = [b[name] for b in beside if name in b and len(b[name]) == len(size)]
            if len(sizes) == len(beside) and type(frame.f_locals[name]) is not int:
                axis = next((d for d in range(len(size)) if size[d] < min(s[d] for s in sizes)), None)
                if axis is not None:
                    least, most = min(s[axis] for s in sizes), max(s[axis] for s in sizes)
                    found.append(
                        {
                            "site": place,
                            "name": name,
                            "axis": axis,
                            "size": size[axis],
                            "least": least,
                            "most": most,
                        }
                    )
    return found[:4]
