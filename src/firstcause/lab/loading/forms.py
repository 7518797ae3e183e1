"""What a sample is made of: its parts with their shapes and types, and which of the program's own records it comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import torch

Part = list[Any]
PARTS, DEPTH, SHOWN = 32, 4, 120


def form(sample: Any) -> list[Part]:
    """The parts of a sample: path, kind, shape; a list of numbers is one part."""
    return [[path, _kind(value), shape(value)] for path, value in parts(sample)]


def parts(value: Any, path: str = "", depth: int = DEPTH) -> Iterator[tuple[str, Any]]:
    """The leaves of nested dicts, lists and tuples, each with its path."""
    if isinstance(value, dict) and depth:
        for key, one in list(value.items())[:PARTS]:
            yield from parts(one, f"{path}[{key!r}]", depth - 1)
    elif isinstance(value, (list, tuple)) and depth and not _numbers(value):
        for number, one in enumerate(value[:PARTS]):
            yield from parts(one, f"{path}[{number}]", depth - 1)
        if len(value) > PARTS:
            yield f"{path}[:]", value
    else:
        yield path, value


def shape(value: Any) -> list[int] | None:
    """The sizes of a value along its dimensions; None of one that has none."""
    sizes = getattr(value, "shape", None)
    if sizes is not None and not callable(sizes):
        try:
            return [int(n) for n in sizes]
        except (TypeError, ValueError):
            return None
    if isinstance(value, (list, tuple, str, bytes, bytearray, dict, set, range)):
        return [len(value)]
    # Pictures of PIL: width and height.
    size = getattr(value, "size", None)
    return list(size) if isinstance(size, tuple) and all(isinstance(n, int) for n in size) else None


def alike(samples: list[Any]) -> list[Any] | None:
    """The samples cut to the smallest size along each dimension; None where they differ otherwise."""
    first = samples[0]
    if any(type(s) is not type(first) for s in samples):
        return None
    if isinstance(first, dict):
        columns = [alike([s.get(k) for s in samples]) for k in first]
        return (
            None
            if any(c is None for c in columns)
            else [dict(zip(first, row, strict=True)) for row in zip(*columns, strict=True)]
        )
    if isinstance(first, (list, tuple)) and not _numbers(first):
        if any(len(s) != len(first) for s in samples):
            return None
        columns = [alike(list(column)) for column in zip(*samples, strict=True)]
        return (
            None
            if any(c is None for c in columns)
            else [type(first)(row) for row in zip(*columns, strict=True)]
        )
    sizes = [shape(s) for s in samples]
    if any(s is None or isinstance(v, str) for s, v in zip(sizes, samples, strict=True)):
        return samples
    if len({len(s) for s in sizes if s is not None}) != 1:
        return None
    least = tuple(slice(0, min(s[d] for s in sizes if s is not None)) for d in range(len(sizes[0] or ())))
    return [s[least] if hasattr(s, "shape") else s[least[0]] for s in samples]


def digest(sample: Any) -> str:
    """A checksum of all that a sample holds."""
    found = hashlib.blake2b(digest_size=8)
    for path, value in parts(sample):
        found.update(path.encode())
        if isinstance(value, torch.Tensor):
            dense = value.detach().cpu().contiguous()
            found.update(str((dense.dtype, dense.shape)).encode())
            found.update(dense.reshape(-1).view(torch.uint8).numpy().tobytes() if dense.numel() else b"")
        elif hasattr(value, "tobytes"):
            found.update(value.tobytes())
        else:
            found.update(repr(value).encode())
    return found.hexdigest()


def identity(dataset: Any, index: Any) -> list[str]:
    """The program's own words for a sample: what its lists of one entry a sample hold at that place."""
    for _ in range(DEPTH):
        indices, inner = getattr(dataset, "indices", None), getattr(dataset, "dataset", None)
        if inner is None or indices is None:
            break
        index, dataset = indices[index], inner
    try:
        length = len(dataset)
        held = [(n, v) for n, v in vars(dataset).items() if isinstance(v, (list, tuple)) and len(v) == length]
        said = [f"{n}[{index}] = {_short(v[index])}" for n, v in held if _plain(v[index])]
    except (TypeError, IndexError, KeyError):
        return []
    return said[:3]


def small(space: dict[str, Any]) -> dict[str, str]:
    """The names of a frame whose values are small enough to be shown."""
    return {n: _short(v) for n, v in list(space.items())[:PARTS] if _plain(v) and not n.startswith("__")}


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return len(value) <= 4 and all(_plain(v) for v in value)
    return isinstance(value, (str, int, float, bool)) or hasattr(value, "__fspath__")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _numbers(value: Any) -> bool:
    return bool(value) and all(type(v) in (int, float, bool) for v in value)


def _kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    name = type(value).__name__
    return f"{name} {str(dtype).removeprefix('torch.')}" if dtype is not None else name
