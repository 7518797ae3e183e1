"""What a file of ``torch.save`` holds, compared by content: which tensors, numbers and states are in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch

DEPTH, WIDE = 8, 20_000
# Larger tensors are known by their first elements and their sum.
WHOLE = 2_000_000


def digest(value: Any) -> str:
    """A hash of a tensor's or array's content; of its kind, too, where that could be mistaken."""
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
    tensor = tensor.detach()
    if tensor.layout is not torch.strided or tensor.device.type == "meta":
        return f"opaque {id(value)}"
    head = f"{tensor.dtype}{tuple(tensor.shape)}"
    flat = tensor.reshape(-1)
    if flat.numel() > WHOLE:
        head += str(float(flat.double().sum()))
        flat = flat[:WHOLE]
    raw = flat.cpu().contiguous().view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return hashlib.blake2b(head.encode() + raw, digest_size=12).hexdigest()


def together(tensors: Iterable[torch.Tensor]) -> str:
    """One hash of several tensors in their order."""
    joined = hashlib.blake2b(digest_size=12)
    for tensor in tensors:
        joined.update(digest(tensor).encode())
    return joined.hexdigest()


class Payload:
    """The content of one saved object: the hashes of its tensors, its whole numbers by key, and its other leaves."""

    def __init__(self, saved: Any) -> None:
        self.digests: set[str] = set()
        self.numbers: dict[str, int] = {}
        self.tables: list[dict[Any, Any]] = []
        self.objects: set[int] = set()
        self.leaves: list[Any] = []
        for path, value in leaves(saved, "", DEPTH, self.tables, self.objects):
            if isinstance(value, torch.Tensor) or type(value).__name__ == "ndarray":
                self.digests.add(digest(value))
            elif type(value) is int:
                self.numbers.setdefault(path, value)
            else:
                self.leaves.append(value)

    def holds_tensors(self, tensors: Iterable[torch.Tensor], share: float = 0.5) -> bool:
        """Whether at least a share of some tensors is in it, scalars aside."""
        wanted = [t for t in tensors if t.numel() > 1]
        return bool(wanted) and sum(digest(t) in self.digests for t in wanted) >= share * len(wanted)

    def holds_table(self, state: dict[str, Any], keys: tuple[str, ...]) -> bool:
        """Whether a dict with the same plain values under some keys is in it."""
        asked = [k for k in keys if k in state]
        return bool(asked) and any(all(k in t and t[k] == state[k] for k in asked) for t in self.tables)


def leaves(
    value: Any, path: str, depth: int, tables: list[dict[Any, Any]], objects: set[int]
) -> Iterator[tuple[str, Any]]:
    """Every leaf of nested containers and plain objects, each with the keys that lead to it."""
    objects.add(id(value))
    if isinstance(value, torch.Tensor) or not depth:
        yield path, value
    elif isinstance(value, torch.nn.Module):
        for name, tensor in value.state_dict(keep_vars=True).items():
            yield f"{path}.{name}", tensor
    elif isinstance(value, dict):
        tables.append(value)
        for key, one in list(value.items())[:WIDE]:
            yield from leaves(one, f"{path}[{key!r}]", depth - 1, tables, objects)
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value[:WIDE]):
            yield from leaves(one, f"{path}[{number}]", depth - 1, tables, objects)
        yield path, value
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        tables.append(vars(value))
        for key, one in list(vars(value).items())[:WIDE]:
            yield from leaves(one, f"{path}.{key}", depth - 1, tables, objects)
    else:
        yield path, value
