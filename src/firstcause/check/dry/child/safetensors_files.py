"""Files of safetensors: kept in memory as those of ``torch.save`` are; of real ones only the names and sizes are read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode

from firstcause.check.dry.child import files

# What the library calls torch.
FRAMEWORKS = ("pt", "torch", "pytorch")
# A longer header is not one.
MOST_HEADER = 100_000_000


def mend(module: Any) -> None:
    """``safetensors``: its tensors are made in Rust, of bytes that a tensor without data has not."""
    for name in ("safe_open", "_safe_open_handle"):
        if hasattr(module, name):
            setattr(module, name, _opening(getattr(module, name), module.SafetensorError))


def mend_torch(module: Any) -> None:
    """``safetensors.torch``: what it writes is kept in memory, what it reads goes through ``safe_open``."""

    def save_file(tensors: Any, filename: Any, metadata: Any = None) -> None:
        torch.save((dict(tensors), metadata), os.fspath(filename))

    def load_file(filename: Any, device: Any = "cpu", **options: Any) -> Any:
        with module.safe_open(filename, framework="pt", device=device) as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict

    def save_model(model: Any, filename: Any, metadata: Any = None, *rest: Any, **options: Any) -> None:
        save_file(model.state_dict(), filename, metadata)

    def load_model(
        model: Any, filename: Any, strict: bool = True, device: Any = "cpu", **options: Any
    ) -> Any:
        state = load_file(filename, device)
        named = list(model.named_parameters(remove_duplicate=False))
        known = {id(parameter): state[name] for name, parameter in named if name in state}
        # Of parameters that are shared, one name stands in the file.
        state |= {n: known[id(p)] for n, p in named if n not in state and id(p) in known}
        missing, unexpected = model.load_state_dict(state, strict)
        return set(missing), list(unexpected)

    module.save_file, module.load_file = save_file, load_file
    module.save_model, module.load_model = save_model, load_model


def _opening(original: Any, failure: type[Exception]) -> Any:
    def safe_open(filename: Any, framework: Any = "pt", device: Any = "cpu", **options: Any) -> Any:
        files.must_be_there(filename)
        kept = files.kept(filename)
        if kept is not None:
            tensors, metadata = kept
        else:
            header = _header(filename) if framework in FRAMEWORKS else None
            if header is None:
                return original(filename, framework, device, **options)
            metadata = header.pop("__metadata__", None)
            tensors = header
        return Opened(tensors, metadata, f"cuda:{device}" if isinstance(device, int) else device, failure)

    return safe_open


def _header(filename: Any) -> dict[str, Any] | None:
    """Names with their sizes and types; None where the library itself shall say what is wrong with a file."""
    with open(filename, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(length)) if length < MOST_HEADER else None
        except ValueError:
            return None
    if not isinstance(header, dict):
        return None
    about = [entry for name, entry in header.items() if name != "__metadata__"]
    return header if all(_dtype(entry["dtype"]) is not None for entry in about) else None


def _dtype(name: str) -> torch.dtype | None:
    from safetensors import torch as spoken

    return spoken._TYPES.get(name)


class Opened:
    """What ``safe_open`` gives: its tensors have a size and a type and no data."""

    def __init__(self, tensors: dict[str, Any], metadata: Any, device: Any, failure: type[Exception]) -> None:
        self._tensors, self._metadata, self._device, self._failure = tensors, metadata, device, failure

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def keys(self) -> list[str]:
        return list(self._tensors)

    offset_keys = keys

    def metadata(self) -> Any:
        return self._metadata

    def get_tensor(self, name: str) -> Any:
        shape, dtype = self.about(name)
        if _get_current_dispatch_mode() is None:
            # In a thread of the program's own, where all of them would share what the fake mode keeps for one.
            return torch.empty(shape, dtype=dtype)
        saved = self._tensors[name]
        if isinstance(saved, torch.Tensor):
            return saved.to(self._device)
        return torch.empty(shape, dtype=dtype, device=self._device)

    def get_tensors(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        return {name: self.get_tensor(name) for name in (self.keys() if names is None else names)}

    def get_slice(self, name: str) -> Slice:
        return Slice(self, name)

    def about(self, name: str) -> tuple[list[int], Any]:
        """The size and the type of a tensor."""
        known = self._tensors.get(name)
        if known is None:
            raise self._failure(f"File does not contain tensor {name}")
        if isinstance(known, torch.Tensor):
            return list(known.shape), known.dtype
        return known["shape"], _dtype(known["dtype"])


class Slice:
    """A tensor of a file of which a part may be asked for, by whatever thread."""

    def __init__(self, opened: Opened, name: str) -> None:
        self._opened, self._name = opened, name
        self._shape, self._dtype = opened.about(name)

    def get_shape(self) -> list[int]:
        return list(self._shape)

    def get_dtype(self) -> str:
        from safetensors import torch as spoken

        return next(name for name, dtype in spoken._TYPES.items() if dtype == self._dtype)

    def __getitem__(self, index: Any) -> Any:
        return self._opened.get_tensor(self._name)[index]
