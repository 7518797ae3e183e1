"""A text as it was read: patterns by their messages, tracebacks, facts, and the words in which somebody asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from firstcause.schema.triage import Seen


@dataclass(frozen=True)
class Frame:
    """A frame of a traceback; ``own`` where it is the user's code, not a library's."""

    file: str
    line: int
    function: str = ""
    source: str = ""
    own: bool = False


@dataclass(frozen=True)
class Raised:
    """An exception of a traceback: its type, its message, its frames (the outermost first), where in the text.

    ``cause`` counts up from 0 for the innermost exception of a chain; ``rank`` and ``worker`` say who raised it.
    """

    exception: str
    message: str
    frames: tuple[Frame, ...]
    line: int
    cause: int = 0
    rank: int | None = None
    worker: int | None = None


@dataclass(frozen=True)
class Reading:
    """All that a text holds, before anything is concluded.

    ``prose`` is what somebody wrote: the text without tracebacks, log lines and code. ``code`` is what stands in it as
    code. ``first_failed`` is the rank that failed first or fell silent, where several report. ``size`` is in bytes.
    ``notes`` say what could not be read of it, and why. ``metrics`` are dictionaries of numbers that a program printed.
    ``language`` is another language or tool whose own error it is, where nothing of Python's stands beside it.
    """

    prose: str
    seen: tuple[Seen, ...] = ()
    raised: tuple[Raised, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    first_failed: int | None = None
    size: int = 0
    lines: int = 0
    notes: tuple[str, ...] = ()
    metrics: str = ""
    language: str = ""
