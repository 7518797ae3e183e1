"""What an object of the program leads to, and how the program would write the way. Sealed child only."""

from __future__ import annotations

import functools
import gc
import sys
import types
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from firstcause.lab import places
from firstcause.lab.frames import variables

CONTAINERS = (list, tuple, set, frozenset, deque)
CACHED = type(functools.lru_cache(maxsize=1)(len))
GENERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
ENDED = "local of {}, which has ended"
# What nothing of the program hangs on, or what leads everywhere.
LEAVES = frozenset(
    {
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        bytearray,
        range,
        slice,
        types.CodeType,
        types.ModuleType,
    }
    | {
        types.BuiltinFunctionType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        types.MappingProxyType,
    }
    | {torch.dtype, torch.device, torch.Size, torch.Generator}
)


class Step(NamedTuple):
    """One step: ``text`` as it is written behind the owner, ``name`` where the program itself gave one, the value."""

    text: str
    name: str | None
    value: Any


def steps(owner: Any) -> Iterator[Step]:
    """All that an object leads to; a tensor leads only to its hooks and own attributes."""
    kind = type(owner)
    if kind in LEAVES or "weak" in kind.__name__.lower():
        return
    if issubclass(kind, dict):
        for key, value in list(owner.items()):
            yield Step(f"[{key!r}]" if type(key) in (str, int) else "[...]", None, value)
            if type(key) not in LEAVES:
                yield Step("[...]", None, key)
    elif issubclass(kind, CONTAINERS):
        for value in list(owner):
            yield Step("[...]", None, value)
    if kind in (types.FunctionType, types.MethodType, CACHED):
        yield from _of_callable(owner, kind)
    elif issubclass(kind, type):
        if places.is_user_module(_module(owner)):
            for name, value in list(vars(owner).items()):
                yield Step(f".{name}", name, value)
    elif kind in GENERATORS:
        frame = (
            getattr(owner, "gi_frame", None)
            or getattr(owner, "cr_frame", None)
            or getattr(owner, "ag_frame", None)
        )
        if frame is not None:
            yield from (Step(f".{n}", n, v) for n, v in variables(frame).items())
    elif kind is types.CellType:
        yield from _cell("", None, owner)
    elif kind is types.TracebackType:
        yield Step("", None, owner.tb_frame)
        yield Step("", None, owner.tb_next)
    elif kind is types.FrameType:
        if places.is_user_file(owner.f_code.co_filename) and owner.f_code.co_name != "<module>":
            ended = ENDED.format(owner.f_code.co_name)
            yield from (Step(ended, None, v) for v in variables(owner).values())
    elif issubclass(kind, BaseException):
        yield Step("", None, owner.__traceback__)
        yield Step("", None, owner.__context__)
        yield Step("", None, owner.args)
        yield from _attributes(owner, kind)
    else:
        yield from _attributes(owner, kind)


def _of_callable(owner: Any, kind: type) -> Iterator[Step]:
    if kind is types.MethodType:
        yield Step("", None, owner.__self__)
        yield Step("", None, owner.__func__)
        return
    if kind is CACHED:
        # The links of a bounded cache hold its values; an unbounded one has a dict.
        for value in gc.get_referents(owner):
            yield Step("(...)", None, value)
        return
    for name, cell in zip(owner.__code__.co_freevars, owner.__closure__ or (), strict=False):
        yield from _cell(f".{name}", name, cell)
    count = owner.__code__.co_argcount
    names = owner.__code__.co_varnames[count - len(owner.__defaults__ or ()) : count]
    for name, value in zip(names, owner.__defaults__ or (), strict=False):
        yield Step(f".{name}", name, value)
    for name, value in [*(owner.__kwdefaults__ or {}).items(), *owner.__dict__.items()]:
        yield Step(f".{name}", name, value)


def _cell(text: str, name: str | None, cell: Any) -> Iterator[Step]:
    try:
        yield Step(text, name, cell.cell_contents)
    except ValueError:
        # Not yet bound.
        return


def _attributes(owner: Any, kind: type) -> Iterator[Step]:
    is_tensor = issubclass(kind, torch.Tensor)
    own = issubclass(kind, torch.nn.Module) or places.is_user_module(_module(kind))
    space = _space(owner)
    for name, value in space:
        yield Step(f".{name}", name if own and not is_tensor else None, value)
    for slot in _slots(kind):
        try:
            yield Step(f".{slot}", slot if own else None, object.__getattribute__(owner, slot))
        except AttributeError:
            continue
    if is_tensor:
        yield Step("._backward_hooks", None, owner._backward_hooks)
    elif not space and kind.__module__ not in ("builtins", "torch._C", "collections"):
        # Objects of C, such as partial or the links of a cache, tell the collector what they hold.
        for value in gc.get_referents(owner):
            if not isinstance(value, type):
                yield Step("", None, value)


def _space(owner: Any) -> list[tuple[str, Any]]:
    try:
        space = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return []
    return [(k, v) for k, v in list(space.items()) if isinstance(k, str)]


@functools.lru_cache(maxsize=4096)
def _slots(kind: type) -> tuple[str, ...]:
    found = []
    for base in type.mro(kind):
        if base.__module__ in ("builtins", "torch._C", "torch"):
            continue
        found += [n for n, v in vars(base).items() if type(v) is types.MemberDescriptorType]
    return tuple(found)


def _module(kind: type) -> Any:
    return sys.modules.get(kind.__module__)
