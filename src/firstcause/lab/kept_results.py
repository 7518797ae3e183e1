"""What pieces of a rewritten program took and gave: whether the same inputs came again, and gave the same. In a sealed child.

``watch`` only looks on; ``keep`` gives a result again for the same inputs. Inputs are compared by value where they are
numbers, texts, paths, small arrays and tensors or short lists of these, and by identity otherwise, as ``self`` is; where an
input can be read only once (a file, an iterator) nothing is ever the same.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
import types
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from firstcause.lab import own_time
from firstcause.lab.ranked.fingerprint import checksum
from firstcause.record.observe import rng

MOST_ELEMENTS, MOST_ITEMS, MOST_BYTES = 1_000_000, 64, 64_000_000
MOST_VALUES = 4096
SCALARS = (int, float, str, bytes, bool, complex, type(None))
CONSTANT = (
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    type,
    types.MethodType,
    torch.dtype,
    torch.device,
)
EVERY = 50


class Unknown(Exception):
    """An input of which nobody can say whether it is the same."""


@dataclass
class Seen:
    """One piece: its calls, and what the repeated ones cost in seconds."""

    calls: int = 0
    repeats: int = 0
    seconds: float = 0.0
    repeated_seconds: float = 0.0
    # Of these, repeats within one pass over the data.
    within_seconds: float = 0.0
    unequal: int = 0
    unknown: int = 0
    digests: dict[Any, int | None] = field(default_factory=dict)
    passes: dict[Any, int] = field(default_factory=dict)
    results: dict[Any, Any] = field(default_factory=dict)
    held: dict[int, Any] = field(default_factory=dict)
    begun: list[tuple[Any, float]] = field(default_factory=list)
    # The states of the generators before each piece that is to leave them as they were.
    drawn: list[Any] = field(default_factory=list)
    built: str = ""
    columns: list[set[Any]] = field(default_factory=list)
    simple: list[bool] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """In plain values; ``columns`` and ``simple`` are of each input, in the order of ``source/pieces``."""
        return {
            "calls": self.calls,
            "repeats": self.repeats,
            "distinct": len(self.digests),
            "seconds": self.seconds,
            "repeated_seconds": self.repeated_seconds,
            "within_seconds": self.within_seconds,
            "unequal": self.unequal,
            "unknown": self.unknown,
            "built": self.built,
            "simple": self.simple,
            "columns": [len(c) for c in self.columns],
        }


PIECES: dict[int, Seen] = {}


def of(number: int) -> Seen:
    return PIECES.setdefault(number, Seen())


def forget_times() -> None:
    """What the pieces have cost until now was the first step, which nobody counts."""
    for seen in PIECES.values():
        seen.seconds = seen.repeated_seconds = seen.within_seconds = 0.0


def begin(number: int, given: Callable[[], tuple[Any, ...]], apart: bool = False) -> None:
    """A watched piece begins; ``apart`` where it is to leave the generators of random numbers as they were."""
    seen = of(number)
    at = own_time.now()
    key = _key(seen, given)
    if apart:
        seen.drawn.append(rng.global_state())
    own_time.spend(own_time.now() - at)
    seen.begun.append((key, own_time.now()))


def end(number: int, result: Any) -> None:
    """It has ended: what it cost, and whether it gave what it gave before."""
    seen = of(number)
    if not seen.begun:
        return
    now = own_time.now()
    key, at = seen.begun.pop()
    seen.calls += 1
    seen.seconds += now - at
    if key is None:
        seen.unknown += 1
    else:
        value = digest(result)
        seen.built = seen.built or _built(result)
        if key in seen.digests:
            seen.repeats += 1
            seen.repeated_seconds += now - at
            seen.within_seconds += (now - at) * (seen.passes[key] == own_time.passes)
            seen.unequal += value is None or value != seen.digests[key]
        else:
            seen.digests[key] = value
        seen.passes[key] = own_time.passes
    _put_back(seen)
    own_time.spend(own_time.now() - now)


def _put_back(seen: Seen) -> None:
    if seen.drawn:
        rng.set_global_state(seen.drawn.pop())


def watched(
    number: int, given: Callable[[], tuple[Any, ...]], work: Callable[[], Any], apart: bool = False
) -> Any:
    """The same for a value."""
    begin(number, given, apart)
    result = work()
    end(number, (result,))
    return result


def has(number: int, given: Callable[[], tuple[Any, ...]], apart: bool = False) -> bool:
    """Whether the result for these inputs is kept; ``get`` or ``put`` follows. ``apart`` as for ``begin``."""
    seen = of(number)
    seen.calls += 1
    # A kept result is found without comparing its inputs where the work is moved out of the loop.
    at = own_time.now()
    key = _key(seen, given)
    own_time.spend(own_time.now() - at)
    seen.begun.append((key, 0.0))
    if key is not None and key in seen.results:
        seen.repeats += 1
        return True
    if apart:
        seen.drawn.append(rng.global_state())
    return False


def get(number: int) -> Any:
    seen = of(number)
    return seen.results[seen.begun.pop()[0]]


def put(number: int, result: Any) -> None:
    seen = of(number)
    key, _ = seen.begun.pop()
    if key is not None and not has_graph(result) and not _once(result):
        seen.results[key] = result
    _put_back(seen)


def kept(
    number: int, given: Callable[[], tuple[Any, ...]], work: Callable[[], Any], apart: bool = False
) -> Any:
    """A value, computed once for the same inputs."""
    if has(number, given, apart):
        return get(number)
    result = work()
    put(number, result)
    return result


def turn(number: int) -> bool:
    """Whether a piece that runs at one time in ``EVERY`` runs now; the first time it does."""
    seen = of(number)
    seen.calls += 1
    return (seen.calls - 1) % EVERY == 0


# ------------------------------------------------------------------ the same or not


def _key(seen: Seen, given: Callable[[], tuple[Any, ...]]) -> Any:
    try:
        values = given()
        key = tuple(_of_value(v, seen) for v in values)
    except (Unknown, NameError):
        return None
    if len(seen.columns) < len(key):
        seen.columns = [set() for _ in key]
        seen.simple = [True for _ in key]
    for number, part in enumerate(key):
        if len(seen.columns[number]) <= MOST_VALUES:
            seen.columns[number].add(part)
        seen.simple[number] = seen.simple[number] and _is_simple(part)
    return key


def _is_simple(part: Any) -> bool:
    """Whether the input itself can be the key of a dict that the program keeps."""
    return isinstance(part, tuple) and part[0] not in ("tensor", "array", "list", "object")


def _of_value(value: Any, seen: Seen, depth: int = 3) -> Any:
    if isinstance(value, SCALARS):
        return (type(value).__name__, value)
    if isinstance(value, CONSTANT):
        return id(value)
    if isinstance(value, os.PathLike):
        return ("path", os.fspath(value))
    if isinstance(value, torch.Tensor):
        if value.grad_fn is not None or value.numel() > MOST_ELEMENTS or value.device.type != "cpu":
            raise Unknown
        return ("tensor", value.dtype, tuple(value.shape), value.requires_grad, checksum(value))
    if type(value).__module__ == "numpy":
        array = sys.modules["numpy"].asarray(value)
        if array.size > MOST_ELEMENTS or array.dtype.hasobject:
            raise Unknown
        kind = "array" if array.ndim else "number"
        return (kind, str(array.dtype), array.shape, zlib.crc32(array.tobytes()))
    is_short = isinstance(value, (tuple, list)) and len(value) <= MOST_ITEMS and depth
    if is_short and all(isinstance(v, (*SCALARS, tuple, list, os.PathLike)) for v in value):
        return (type(value).__name__, *(_of_value(v, seen, depth - 1) for v in value))
    if isinstance(value, Iterator):
        raise Unknown
    # Held, so that no other object gets its identity.
    seen.held[id(value)] = value
    return ("object", id(value))


def digest(value: Any) -> int | None:
    """A number that is the same for results that are the same; None where nobody can say."""
    if has_graph(value) or _once(value):
        return None
    written = io.BytesIO()
    try:
        _Pickler(written, protocol=5).dump(value)
    except Exception:  # noqa: BLE001 - what cannot be pickled cannot be compared
        return None
    return zlib.crc32(written.getbuffer()) if written.tell() <= MOST_BYTES else None


class _Pickler(pickle.Pickler):
    """Writes a tensor by its values: torch writes a number of its own with each storage."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.device.type == "cpu":
            return tuple, ((str(value.dtype), tuple(value.shape), checksum(value)),)
        return NotImplemented


def has_graph(value: Any, depth: int = 4) -> bool:
    """Whether a tensor in it belongs to a graph, which one step uses up."""
    if isinstance(value, torch.Tensor):
        return value.grad_fn is not None
    if isinstance(value, dict):
        value = list(value.values())
    return (
        bool(depth) and isinstance(value, (tuple, list)) and any(has_graph(v, depth - 1) for v in value[:64])
    )


def _once(value: Any) -> bool:
    return any(isinstance(v, Iterator) for v in (value if isinstance(value, tuple) else (value,)))


def _built(result: Any) -> str:
    """The class of the first object in a result that is more than data."""
    for value in result if isinstance(result, tuple) else (result,):
        kind = type(value)
        data = isinstance(value, (*SCALARS, *CONSTANT, tuple, list, dict, set, torch.Tensor))
        if not data and kind.__module__ not in ("numpy", "builtins"):
            return kind.__name__
    return ""
