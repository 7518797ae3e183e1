"""Who keeps objects alive: the way of the program's own names down to them. Sealed child only.

One pass from the program's names downwards, and not from the objects upwards: variables of running functions, slots,
closures and the caches of functions are no referrers that the collector could name.
"""

from __future__ import annotations

import math
import sys
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.lab import places
from firstcause.lab.frames import variables
from firstcause.lab.reaching import CACHED, CONTAINERS, ENDED, steps

# The program's objects are followed so far at most: a list of all its samples is no holder of what a step made.
MOST_OBJECTS, SECONDS = 400_000, 4.0
# Some of the objects are a step's own, which nobody holds any more: most of them tell the holder.
ENOUGH = 0.8
HOOKS = ("hooks]", "_hooks")


@dataclass(frozen=True)
class Holder:
    """What the program calls the holder, and how to ask for it again.

    ``root`` is a variable of ``function`` in ``file``, or of the file; ``name`` the last name on the way that the program
    gave, ``expression`` the way as the program would write it, as far as it can. ``exception`` names the ended
    function whose frame is kept, where one is on the way; ``hooks`` says that a table of hooks is.
    """

    root: str
    file: str
    function: str
    name: str
    expression: str
    exception: str | None
    hooks: bool
    now: Callable[[], Any]
    put: Callable[[Any], None] | None


@dataclass(frozen=True)
class _Variable:
    """A variable of a running frame, or of a file."""

    space: Callable[[], dict[str, Any]]
    name: str
    write: Callable[[str, Any], None]

    def now(self) -> Any:
        return self.space().get(self.name)

    def put(self, value: Any) -> None:
        self.write(self.name, value)


@dataclass(frozen=True)
class _Node:
    value: Any
    above: int
    text: str
    name: str | None
    root: tuple[str, str] | None = None
    variable: _Variable | None = None


def holder_of(targets: Sequence[Any]) -> Holder | None:
    """Who holds most of the objects; None where no name of the program leads to any of them."""
    wanted = {id(t) for t in targets}
    nodes, found = _walk(wanted)
    if not found:
        return None
    ways = [_way(nodes, i) for i in found]
    counts = Counter(i for way in ways for i in way)
    # The nearest that leads to at least half of them: a container rather than one of its items.
    common = [i for i in ways[0] if 2 * counts[i] > len(ways)] if len(ways) > 1 else ways[0]
    if not common:
        most = max(counts.values())
        common = [i for i in max(ways, key=lambda w: sum(counts[i] == most for i in w)) if counts[i] == most]
    whole = max(ways, key=lambda w: len(set(w) & set(common)))
    return _named(nodes, common, whole)


def _walk(wanted: set[int]) -> tuple[list[_Node], list[int]]:
    end = time.process_time() + SECONDS
    nodes = list(_roots())
    seen = {id(n.value) for n in nodes}
    found = [i for i, n in enumerate(nodes) if id(n.value) in wanted]
    at = 0
    enough = math.ceil(ENOUGH * len(wanted))
    while at < len(nodes) < MOST_OBJECTS and len(found) < enough:
        owner = nodes[at]
        if at % 256 == 0 and time.process_time() > end:
            break
        for text, name, value in steps(owner.value):
            number = id(value)
            if number in seen or value is None:
                continue
            seen.add(number)
            if number in wanted:
                found.append(len(nodes))
            nodes.append(_Node(value, at, text, name))
        at += 1
    return nodes, found


def reached() -> Iterator[Any]:
    """Every object that the program's names lead to, the nearest first, within the same limits."""
    nodes, _ = _walk({0})
    return (n.value for n in nodes)


def _way(nodes: list[_Node], at: int) -> list[int]:
    way = []
    while at >= 0:
        way.append(at)
        at = nodes[at].above
    return way[::-1]


def _named(nodes: list[_Node], common: list[int], whole: list[int]) -> Holder | None:
    """The last name on the common part of the way, before an ended frame, and before a name that only repeats."""
    ended = next((nodes[i].text for i in whole if nodes[i].text.startswith(ENDED[:9])), None)
    names: list[int] = []
    seen: set[str] = set()
    for i in common:
        node = nodes[i]
        if isinstance(node.value, BaseException) and node.name is None:
            break
        if node.name is None:
            continue
        if node.name in seen and nodes[node.above].name == node.name:
            names.pop()
            break
        seen.add(node.name)
        names.append(i)
    if not names:
        return None
    last = names[-1]
    root = nodes[common[0]]
    assert root.root is not None
    assert root.name is not None
    upto = whole[: whole.index(last) + 1]
    tail = [nodes[i].text for i in whole[len(upto) :]]
    shown = []
    for text in tail:
        if not text.startswith(("[", "(")):
            break
        shown.append(text)
    above, node = nodes[nodes[last].above] if nodes[last].above >= 0 else None, nodes[last]
    owner_file = _file_of(above.value) if above is not None else None
    expression = "".join([root.name, *(nodes[i].text for i in upto[1:]), *shown])
    return Holder(
        root.name,
        owner_file or root.root[0],
        root.root[1],
        node.name or root.name,
        expression,
        ended,
        any(nodes[i].text.endswith(HOOKS) for i in whole),
        _asker(above, node),
        _putter(above, node),
    )


def _asker(above: _Node | None, node: _Node) -> Callable[[], Any]:
    """A question for what the name holds now; what is one object is not kept alive by it."""
    if above is None:
        assert node.variable is not None
        return node.variable.now
    owner, name, value = above.value, node.name, node.value
    kept = value if issubclass(type(value), (*CONTAINERS, dict)) or type(value) is CACHED else None

    def now() -> Any:
        got = next((s.value for s in steps(owner) if s.name == name), None)
        return kept if got is None else got

    return now


def _putter(above: _Node | None, node: _Node) -> Callable[[Any], None] | None:
    if above is None:
        return node.variable.put if node.variable is not None else None
    owner, name = above.value, node.name
    if name is None or not hasattr(owner, "__dict__") or isinstance(owner, (types.FunctionType, type)):
        return None
    return lambda value: setattr(owner, name, value)


def _roots() -> Iterator[_Node]:
    """Variables of running functions, outermost first, and of the program's files."""
    for top in sys._current_frames().values():
        for frame in reversed(list(places.user_frames(top))):
            code = frame.f_code
            if code.co_name == "<module>":
                continue
            for name, value in variables(frame).items():
                if not name.isidentifier():
                    # What a comprehension or a rewritten assertion keeps under a name of its own.
                    continue
                one = _Variable(lambda f=frame: variables(f), name, lambda n, v, f=frame: _bind(f, n, v))  # type: ignore[misc]
                yield _Node(value, -1, name, name, (code.co_filename, code.co_name), one)
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(module, types.ModuleType) and file and places.is_user_file(file):
            space = module.__dict__
            for name, value in list(space.items()):
                if name.startswith("__") or isinstance(value, types.ModuleType):
                    continue
                one = _Variable(lambda s=space: s, name, space.__setitem__)  # type: ignore[misc]
                yield _Node(value, -1, name, name, (file, "<module>"), one)


def _bind(frame: types.FrameType, name: str, value: Any) -> None:
    import ctypes

    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        variables(frame)


def _file_of(owner: Any) -> str | None:
    kind = owner if isinstance(owner, type) else type(owner)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file if file and places.is_user_file(file) else None
