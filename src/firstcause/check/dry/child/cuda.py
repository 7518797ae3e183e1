"""What a program asks of CUDA itself, answered as by one card that is idle."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import torch

MEMORY = 80 << 30


def install() -> None:
    cuda = torch.cuda
    nothing = _nothing
    for name in (  # noqa: SIM905
        "set_device synchronize empty_cache manual_seed manual_seed_all seed seed_all init "
        "reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached ipc_collect set_per_process_memory_fraction "
        "set_stream set_rng_state set_rng_state_all"
    ).split():
        setattr(cuda, name, nothing)
    for name in (  # noqa: SIM905
        "memory_allocated max_memory_allocated memory_reserved max_memory_reserved current_device utilization "
        "memory_usage temperature power_draw clock_rate"
    ).split():
        setattr(cuda, name, _always(0))
    cuda.is_available = cuda.is_initialized = cuda.is_bf16_supported = _always(True)
    cuda.device_count = _always(1)
    cuda.get_device_name = _always("an accelerator that is emulated")
    cuda.get_device_capability = _always((8, 0))
    cuda.get_device_properties = _always(
        SimpleNamespace(
            name=cuda.get_device_name(), total_memory=MEMORY, major=8, minor=0, multi_processor_count=108
        )
    )
    cuda.mem_get_info = _always((MEMORY, MEMORY))
    cuda.memory_stats = lambda *args, **kwargs: defaultdict(int)
    cuda.memory_summary = _always("")
    torch.set_rng_state = torch.random.set_rng_state = nothing
    cuda.get_rng_state = lambda *args, **kwargs: torch.get_rng_state()
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    for name in ("get_rng_state", "get_rng_state_all", "set_rng_state", "set_rng_state_all"):
        setattr(cuda.random, name, getattr(cuda, name))
    cuda.device = cuda.stream = _Context
    cuda.Stream = cuda.Event = _Marker
    cuda.current_stream = cuda.default_stream = lambda *args, **kwargs: _Marker()
    torch.manual_seed = _manual_seed
    torch.compile = torch.jit.script = _as_it_is
    torch.Generator = _Generator


def _always(value: Any) -> Any:
    """A function of whatever is asked, by position or by name."""
    return lambda *args, **kwargs: value


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def _manual_seed(seed: Any) -> Any:
    return torch.default_generator


def _as_it_is(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    return function if function is not None else _as_it_is


class _Generator(torch.Generator):
    def __new__(cls, device: Any = "cpu") -> Any:
        return super().__new__(cls, "cpu")

    def set_state(self, state: Any) -> Any:
        return self


class _Context:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Whatever it is of."""

    def __enter__(self) -> _Context:
        return self

    def __exit__(self, *error: Any) -> None:
        return None


class _Marker(_Context):
    def elapsed_time(self, end_event: Any) -> float:
        return 1.0

    def query(self) -> bool:
        return True

    record = synchronize = wait = wait_stream = wait_event = record_event = _nothing
