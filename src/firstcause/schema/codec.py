"""Frozen dataclasses to plain JSON values and back, strictly: an unknown or missing key is an error."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


def from_plain(kind: type[T], data: Any, where: str = "") -> T:
    """Build ``kind`` from what ``to_plain`` gave.

    Raises ``ValueError`` naming the path of the first value that does not fit.
    """
    result: T = _read(kind, data, where or getattr(kind, "__name__", "value"))
    return result


def _read(kind: Any, data: Any, where: str) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return data
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in args:
            return None
        return _read(next(a for a in args if a is not type(None)), data, where)
    if origin is typing.Literal:
        return _expect(data in args, data, where, f"is none of {', '.join(map(str, args))}")
    if origin is tuple:
        _expect(isinstance(data, list), data, where, "is not a list")
        return tuple(_read(args[0], v, f"{where}[{i}]") for i, v in enumerate(data))
    if origin is dict:
        _expect(isinstance(data, dict), data, where, "is not an object")
        return {k: _read(args[1], v, f"{where}.{k}") for k, v in data.items()}
    if dataclasses.is_dataclass(kind):
        return _read_record(kind, data, where)
    if kind is float:
        _expect(not isinstance(data, bool), data, where, "is not a number")
        return float(
            _expect(
                isinstance(data, (int, float)) or data in ("nan", "inf", "-inf"),
                data,
                where,
                "is not a number",
            )
        )
    if kind is int:
        _expect(not isinstance(data, bool), data, where, "is not a whole number")
    return _expect(isinstance(data, kind), data, where, f"is not of type {kind.__name__}")


def _read_record(kind: Any, data: Any, where: str) -> Any:
    _expect(isinstance(data, dict), data, where, "is not an object")
    hints = typing.get_type_hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    for key in data:
        _expect(key in fields, data, f"{where}.{key}", "is no known key")
    given = {}
    for name, field in fields.items():
        if name in data:
            given[name] = _read(hints[name], data[name], f"{where}.{name}")
        else:
            optional = (
                field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            )
            _expect(optional, data, f"{where}.{name}", "is missing")
    return kind(**given)


def _expect(good: bool, data: Any, where: str, complaint: str) -> Any:
    if not good:
        raise ValueError(f"{where} {complaint}: {str(data)[:80]}")
    return data
