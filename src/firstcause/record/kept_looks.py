"""What commands that look into a run keep beside its record, for the page: where memory and where the time goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from firstcause.errors import RecordError
from firstcause.record.folder import RunFolder
from firstcause.schema import from_plain, to_plain

T = TypeVar("T")
MEMORY, PROFILE = "memory.json", "profile.json"
FILES = (MEMORY, PROFILE)


@dataclass(frozen=True)
class MemorySample:
    """One look at a sealed copy: step, live tensors and their bytes, autograd nodes, resident bytes."""

    step: int
    tensors: int
    bytes: int
    nodes: int
    resident: int


@dataclass(frozen=True)
class KeptMemory:
    """What `run --memory` found: samples, what grows, who holds it, the statement, the experiment and the change.

    Texts are empty and numbers None where something was not found; ``after`` are samples with the holder let go of.
    """

    samples: tuple[MemorySample, ...]
    after: tuple[MemorySample, ...] = ()
    released_at: int | None = None
    kind: str = ""
    held_by: str = ""
    file: str = ""
    line: int | None = None
    text: str = ""
    bytes_a_step: float | None = None
    full_at: int | None = None
    cause: str = ""
    evidence: tuple[str, ...] = ()
    fix: str = ""
    does_not_fix: str = ""


@dataclass(frozen=True)
class Share:
    """A part of the steps' time by its name, 0 to 1."""

    name: str
    share: float


@dataclass(frozen=True)
class KeptProfile:
    """What `profile` measured: steps, milliseconds a step, the class, and what takes its share of them."""

    steps: int
    step_ms: float
    kind: str
    parts: tuple[Share, ...]
    lines: tuple[Share, ...]
    gain: float | None = None


def keep(folder: RunFolder, kept: KeptMemory | KeptProfile) -> None:
    """Write it, in place of what was kept before; raises ``RecordError`` where there is no room."""
    folder.write_json(MEMORY if isinstance(kept, KeptMemory) else PROFILE, to_plain(kept))


def memory_of(folder: RunFolder) -> KeptMemory | None:
    """What was kept of the memory; None where nobody has looked. Raises ``RecordError`` where it is damaged."""
    return _read(folder, MEMORY, KeptMemory)


def profile_of(folder: RunFolder) -> KeptProfile | None:
    """The same of the time."""
    return _read(folder, PROFILE, KeptProfile)


def _read(folder: RunFolder, name: str, kind: type[T]) -> T | None:
    data = folder.read_json(name)
    if data is None:
        return None
    try:
        return from_plain(kind, data)
    except ValueError as error:
        message = f"{folder.file(name)}: {error}"
        raise RecordError("run-damaged", message, "look into the run again") from error
