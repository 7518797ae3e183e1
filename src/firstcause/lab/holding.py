"""Who keeps an object alive: the chain of the program's own names from a variable down to it. Sealed child only."""

from __future__ import annotations

import gc
import sys
import time
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from firstcause.lab import places

# A chain is searched for at most so much of the processor: where there is none, the collector would be asked about all objects.
SECONDS = 2.0
DEPTH, WIDTH = 12, 300
CONTAINERS = (dict, list, tuple, set, deque)


@dataclass
class Chain:
    """From ``root``, a variable of ``file`` (or of a function in it), through ``path`` down to the object.

    ``name`` is the last name on the way that the program gave: an attribute or a variable. ``container`` is what holds
    the object, ``outer`` the container of containers around that, both None where a variable or an attribute holds it.
    ``exception`` names the ended function whose frame is kept, where one is on the way.
    """

    root: str
    file: str
    function: str
    path: list[str] = field(default_factory=list)
    container: Any = None
    outer: Any = None
    exception: str | None = None

    @property
    def name(self) -> str:
        named = [p[1:] for p in self.path if p.startswith(".") and p[1:].isidentifier()]
        return named[-1] if named else self.root

    @property
    def expression(self) -> str:
        """As the program would write it, without the objects that it cannot name."""
        return self.root + "".join(p for p in self.path if p[0] in ".[")


@dataclass
class _Found:
    """An object on the way up, the path from it down to the target, and the containers that were met."""

    held: Any
    path: list[str]
    inner: Any = None
    outer: Any = None

    def under(self, referrer: Any, step: list[str]) -> _Found:
        inner, outer = self.inner, self.outer
        if issubclass(type(referrer), CONTAINERS) and not _is_namespace(referrer):
            # A container around the target, or around the container that was met last.
            if inner is None:
                inner = referrer
            if outer is None or outer is self.held:
                outer = referrer
        return _Found(referrer, [*step, *self.path], inner, outer)

    def chain(self, root: str, file: str, function: str) -> Chain:
        ended = next((p for p in self.path if p.startswith("local of ")), None)
        return Chain(root, file, function, self.path, self.inner, self.outer, ended)


def chain_to(target: Any) -> Chain | None:
    """The shortest chain from a name of the program; None where none is found in time."""
    end = time.process_time() + SECONDS
    roots = _module_spaces()
    frames = list(_user_frames())
    level = [_Found(target, [])]
    # Our own notes refer to the objects too.
    seen = {id(target), id(level[0]), id(level[0].__dict__)}
    for _ in range(DEPTH):
        for found in level:
            for frame in frames:
                named = _variable(frame, found.held)
                if named is not None:
                    return found.chain(named, frame.f_code.co_filename, frame.f_code.co_name)
        above: list[_Found] = []
        for found in level:
            for referrer in gc.get_referrers(found.held):
                if id(referrer) in seen or referrer is level or referrer is above:
                    continue
                if time.process_time() > end:
                    return None
                seen.add(id(referrer))
                if id(referrer) in roots:
                    named = next((k for k, v in list(referrer.items()) if v is found.held), None)
                    if named is not None:
                        return found.chain(named, roots[id(referrer)], "<module>")
                    continue
                step = _step(referrer, found.held)
                if step is not None:
                    above.append(found.under(referrer, step))
                    seen.update((id(above[-1]), id(above[-1].__dict__)))
        if not above:
            return None
        level = above[:WIDTH]
    return None


def _step(referrer: Any, held: Any) -> list[str] | None:
    """How ``referrer`` leads to ``held``, as a piece of a path; None where it is none of the program's."""
    kind = type(referrer)
    if issubclass(kind, dict):
        key = next((k for k, v in list(referrer.items()) if v is held), None)
        if key is None:
            return None
        # The namespace of an object is named by the object above it.
        return [f".{key}"] if _is_namespace(referrer) else [f"[{key!r}]"]
    if issubclass(kind, CONTAINERS):
        return ["[...]"] if any(v is held for v in referrer) else None
    if kind is types.FrameType:
        if not places.is_user_file(referrer.f_code.co_filename):
            return None
        return [f"local of {referrer.f_code.co_name}, which has ended"]
    if kind is types.TracebackType:
        return ["its traceback"]
    if kind is types.CellType:
        return ["a closure"]
    if kind in (types.FunctionType, types.MethodType, types.ModuleType, type) or "weak" in kind.__name__:
        return None if kind is not types.FunctionType else ["a function"]
    if isinstance(referrer, BaseException):
        return ["an exception"]
    # An object of a class with a namespace of its own: on the way from its attributes to who holds it. On 3.11 and
    # later values may lie in the object itself, so that it refers to them directly.
    for key, value in _attributes(referrer):
        if value is held:
            return [f".{key}"]
    return [] if type(held) is dict and getattr(referrer, "__dict__", None) is held else None


def _attributes(owner: Any) -> list[tuple[str, Any]]:
    try:
        space = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return []
    return [(k, v) for k, v in list(space.items()) if isinstance(k, str)]


def _is_namespace(space: Any) -> bool:
    if type(space) is not dict:
        return False
    return any(
        getattr(type(owner), "__dictoffset__", 0) and getattr(owner, "__dict__", None) is space
        for owner in gc.get_referrers(space)
        if not issubclass(type(owner), (*CONTAINERS, types.FrameType, types.ModuleType))
    )


def _module_spaces() -> dict[int, str]:
    found = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(module, types.ModuleType) and file and places.is_user_file(file):
            found[id(module.__dict__)] = file
    return found


def _user_frames() -> Iterator[types.FrameType]:
    for top in sys._current_frames().values():
        yield from (f for f in places.user_frames(top) if f.f_code.co_name != "<module>")


def _variable(frame: types.FrameType, held: Any) -> str | None:
    # Variables of a running function are no referrers since 3.11: they are looked up by identity.
    return next((k for k, v in frame.f_locals.items() if v is held), None)
