"""A failing call on disk: its inputs, the model's state where it is small enough, and what tells the model again."""

from __future__ import annotations

import shutil
from typing import Any

import torch

from firstcause.record.observe import privacy, room, saved
from firstcause.record.observe.call import Call, outputs_of
from firstcause.record.observe.call_sites import SITES

# A model that is larger is the program's own in a fresh process: it loads it as it did.
MODEL_BYTES = 256 << 20


def write(call: Call, path: str | None, value: Any, folder: str, dead: bool) -> str:
    """Write the call; returns an empty string, or why it was not written. ``dead``: the device gives nothing back."""
    if privacy.asked():
        return f"{privacy.WHY} of a call's inputs"
    why = ""
    try:
        bytes_left, why = room.room(folder)
        if not bytes_left:
            return why
        writer = saved.Writer(dead, call.hosts, bytes_left)
        saved.put(folder, _structure(call, path, value, writer, dead), writer.tensors)
    except saved.TooLarge:
        return f"the inputs of the call were not kept: they take {why}"
    except (OSError, RuntimeError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"the inputs of the call could not be written: {error}"
    return ""


def module_of(owner: Any) -> torch.nn.Module | None:
    """The module that a call asks: its owner, or the one that the owner holds."""
    if isinstance(owner, torch.nn.Module):
        return owner
    held = [v for v in vars(owner).values() if isinstance(v, torch.nn.Module)]
    return held[0] if held else None


def state_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by name."""
    return dict([*module.named_parameters(), *module.named_buffers()])


def shapes_of(owner: Any) -> dict[str, list[int]]:
    """The shapes of the parameters and buffers behind an owner, by name."""
    module = module_of(owner)
    return {n: list(t.shape) for n, t in state_of(module).items()} if module is not None else {}


def class_of(owner: Any) -> str:
    return f"{type(owner).__module__}.{type(owner).__qualname__}"


def _structure(call: Call, path: str | None, value: Any, writer: saved.Writer, dead: bool) -> dict[str, Any]:
    positional, keywords = call.split()
    module = module_of(call.owner)
    state = state_of(module) if module is not None else {}
    small = not dead and sum(t.nbytes for t in state.values()) <= MODEL_BYTES
    structure: dict[str, Any] = {
        "call": SITES[call.s].key,
        "class": class_of(call.owner),
        "method": getattr(call.function, "__name__", "") if call.function is not call.owner else "",
        "path": path,
        "arguments": [writer.encode(f"argument{i}", v) for i, v in enumerate(positional)],
        "keywords": {k: writer.encode(f"keyword/{k}", v) for k, v in keywords.items()},
        "rng": saved.encode_rng(writer, "rng", call.rng),
        "grad": torch.is_grad_enabled(),
        "shapes": shapes_of(call.owner),
        "state": {n: writer.keep(f"state/{n}", t) for n, t in state.items()} if small else None,
        "outputs": [saved.checksum(t) for t in outputs_of(value)],
    }
    devices = writer.devices | {t.device.type for t in state.values()} | ({"cuda"} if dead else set())
    return structure | {"devices": sorted(devices)}


def lacking(data: Any, name: str) -> list[str]:
    """The arguments within an encoded one that could not be written: their names and types."""
    if "o" in data:
        return [f"{name} ({data['o']})"]
    inner = data.get("l") or data.get("u") or [v for _, v in data.get("d", ())]
    return [found for part in inner for found in lacking(part, name)]
