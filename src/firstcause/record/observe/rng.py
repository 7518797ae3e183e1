"""The states of every source of random numbers: torch, Python, NumPy, and generators that the program holds."""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable
from typing import Any

import torch


class Unchanged:
    """The state of a generator, asked for again only where the memory that it lies in has changed.

    NumPy and Python make an object of each of 624 numbers, in longer time than all else at a mark takes together; most
    programs draw from neither in a step. The memory is compared, never interpreted.
    """

    def __init__(self, generator: Any, ask: Callable[[], Any], *more: tuple[int, int]) -> None:
        self._generator, self._ask = generator, ask
        # What follows the object's header, which counts references; then what it points to: address and bytes.
        header = object.__basicsize__
        places = [(id(generator) + header, type(generator).__basicsize__ - header), *more]
        self._memory = [(ctypes.c_char * size).from_address(at) for at, size in places]
        self._seen: list[bytes] = []
        self._state: Any = None

    def state(self) -> Any:
        now = [m.raw for m in self._memory]
        if now != self._seen:
            self._state, self._seen = self._ask(), now
        return self._state


class PythonState(Unchanged):
    """Of ``random``'s own generator; the second of two normal numbers drawn lies elsewhere, and leaves no other trace."""

    def __init__(self) -> None:
        self._source: Any = random.getstate.__self__  # type: ignore[attr-defined]
        super().__init__(self._source, self._source.getstate)
        self._normal: Any = None

    def state(self) -> Any:
        normal = self._source.gauss_next
        if normal is not self._normal:
            self._normal, self._seen = normal, []
        return super().state()


class NumpyState(Unchanged):
    """Of NumPy's global generator and of the MT19937 that it draws from."""

    def __init__(self, source: Any) -> None:
        self.source, self.bits = source, source._bit_generator
        if type(self.bits).__name__ != "MT19937":
            raise TypeError(type(self.bits).__name__)
        # 624 numbers of 32 bits and the place of the next one.
        super().__init__(source, source.get_state, (self.bits.ctypes.state_address, 625 * 4))


_python = PythonState()
_numpy: NumpyState | None = None


def _numpy_state(numpy: Any) -> Any:
    global _numpy
    try:
        source = numpy.random.mtrand._rand
        if _numpy is None or _numpy.source is not source or _numpy.bits is not source._bit_generator:
            _numpy = NumpyState(source)
        return _numpy.state()
    except (AttributeError, TypeError):
        # Another generator was put in its place, or another release of NumPy has none of these names.
        return numpy.random.get_state(legacy=False) if _is_other(numpy) else numpy.random.get_state()


def _is_other(numpy: Any) -> bool:
    """Whether another kind of generator is the global one: asked for its state in the old form, it warns."""
    return hasattr(numpy.random, "get_bit_generator") and (
        type(numpy.random.get_bit_generator()).__name__ != "MT19937"
    )


def global_state() -> dict[str, Any]:
    """The global generators' states; CUDA only where it is in use, since asking would break later forks."""
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": _python.state()}
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        state["numpy"] = _numpy_state(numpy)
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
