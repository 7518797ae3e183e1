"""The emulated accelerator's name inside of torch; the program knows it as cuda."""

from __future__ import annotations

from typing import Any

import torch

NAME = "emulated"
SEEN_AS = "cuda"


def inside(device: Any) -> Any:
    """What the program calls a device, as torch is told."""
    if isinstance(device, torch.device):
        return torch.device(NAME, 0) if device.type == SEEN_AS else device
    if isinstance(device, str) and device.partition(":")[0] == SEEN_AS:
        return torch.device(NAME, 0)
    return device


def outside(device: Any) -> Any:
    """A device as the program knows it; anything else stays what it is."""
    if isinstance(device, torch.device) and device.type == NAME:
        return torch.device(SEEN_AS, 0)
    return device


def shown(text: str) -> str:
    return text.replace(NAME, SEEN_AS)
