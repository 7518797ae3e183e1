"""What a node of the graph saved, read after the engine has refused it; reading before would change the replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

MODIFIED = "has been modified by an inplace operation"


def modified(node: Any, message: str) -> tuple[str, torch.Tensor, int | None] | None:
    """The slot and tensor of a node that refuses with this message, and the version that was expected."""
    wanted = message.partition(" Hint:")[0]
    for slot, saved in _saved(node):
        said, tensor = _refused(node, slot, saved)
        if tensor is not None and said.partition(" Hint:")[0] == wanted:
            return slot, tensor, _number_after(said, "expected version ")
    return None


def storage_of(tensor: Any) -> int | None:
    """What tells one storage from another while it lives; None for what has no plain memory."""
    if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
        return None
    return int(tensor.untyped_storage()._cdata)


def _saved(node: Any) -> Iterator[tuple[str, Any]]:
    for attribute in dir(node):
        if attribute.startswith("_raw_saved_"):
            saved = getattr(node, attribute)
            for one in saved if isinstance(saved, (tuple, list)) else [saved]:
                yield attribute.removeprefix("_raw_saved_"), one


def _refused(node: Any, slot: str, saved: Any) -> tuple[str, torch.Tensor | None]:
    """What reading a saved tensor says, and the tensor; hooks give it also where its version has moved on."""
    try:
        # The attribute of a function of the program's own has no prefix.
        getattr(node, f"_saved_{slot}" if hasattr(type(node), f"_saved_{slot}") else f"saved_{slot}")
        return "", None
    except RuntimeError as error:
        said = str(error)
    if MODIFIED not in said:
        return said, None
    got: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        got.append(tensor)
        return tensor

    try:
        saved.register_hooks(keep, lambda tensor: tensor)
    except RuntimeError as error:
        # Another tensor of the same node was the one that was written; this one is free already.
        return str(error), None
    return said, got[0] if got else None


def _number_after(text: str, words: str) -> int | None:
    digits = text.partition(words)[2].partition(" ")[0]
    return int(digits) if digits.isdigit() else None
