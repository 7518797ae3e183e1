"""What the first step was given, in a few numbers, so that two runs can be told apart by their data."""

from __future__ import annotations

import sys
from typing import Any

import torch

from firstcause.record.observe import privacy
from firstcause.record.observe.kept import tensors_in
from firstcause.record.observe.snapshot import Snapshot

# Of a larger tensor the first rows are measured: this is done once, and must not be felt.
MEASURED = 1 << 16
MOST_TENSORS = 16
LIBRARIES = (
    "torch",
    "numpy",
    "torchvision",
    "torchaudio",
    "transformers",
    "datasets",
    "accelerate",
    "lightning",
    "pytorch_lightning",
    "peft",
    "timm",
    "pandas",
    "scipy",
    "sklearn",
)


def first_step(snapshot: Snapshot) -> dict[str, Any]:
    """The versions of what is loaded, torch's seed, and shape, dtype, mean and deviation of the first step's tensors."""
    named = list(snapshot.values.items()) + [(f"next {i}", v) for i, (v, _) in enumerate(snapshot.drawn)]
    tensors: list[dict[str, Any]] = []
    with torch.no_grad(), torch._C.DisableTorchFunction():
        for name, value in named:
            for tensor in tensors_in(value):
                if len(tensors) < MOST_TENSORS:
                    tensors.append({"name": name, **_figures(tensor)})
    return {"versions": versions(), "seed": torch.initial_seed(), "tensors": tensors}


def versions() -> dict[str, str]:
    """The versions of the known libraries that are loaded."""
    found = {}
    for name in LIBRARIES:
        # Read from the namespace: a lazy module must not be woken.
        version = getattr(sys.modules.get(name), "__dict__", {}).get("__version__")
        if version is not None:
            found[name] = str(version)
    return found


def _figures(tensor: torch.Tensor) -> dict[str, Any]:
    result: dict[str, Any] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype)[len("torch.") :]}
    plain = tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_complex()
    if not plain or privacy.asked() or tensor.device.type == "meta" or not tensor.numel():
        return result
    part = tensor.detach()
    while part.numel() > MEASURED:
        rows = MEASURED * part.shape[0] // part.numel()
        part = part[:rows] if rows else part[0]
    numbers = part.double()
    finite = numbers[torch.isfinite(numbers)]
    if finite.numel():
        result |= {"mean": float(finite.mean()), "std": float(finite.std(correction=0))}
    return result | {"not_finite": numbers.numel() - finite.numel(), "measured": numbers.numel()}
