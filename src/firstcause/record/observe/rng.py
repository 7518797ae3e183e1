"""The states of every source of random numbers: torch, Python, NumPy, and generators that the program holds."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def global_state() -> dict[str, Any]:
    """The global generators' states; CUDA only where it is in use, since asking would break later forks."""
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        state["numpy"] = numpy.random.get_state()
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_global_state(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if "numpy" in state:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"])


def is_generator(value: Any) -> bool:
    """Whether a value is a generator object of torch, Python or NumPy; by type, never by isinstance."""
    kind = type(value)
    return (
        kind is torch.Generator
        or kind is random.Random
        or (kind.__module__.startswith("numpy.random") and kind.__name__ in ("Generator", "RandomState"))
    )


def state_of(generator: Any) -> Any:
    if type(generator) is torch.Generator:
        return generator.get_state()
    if type(generator) is random.Random:
        return generator.getstate()
    if type(generator).__name__ == "RandomState":
        return generator.get_state()
    return generator.bit_generator.state


def set_state_of(generator: Any, state: Any) -> None:
    if type(generator) is torch.Generator:
        generator.set_state(state)
    elif type(generator) is random.Random:
        generator.setstate(state)
    elif type(generator).__name__ == "RandomState":
        generator.set_state(state)
    else:
        generator.bit_generator.state = state
