"""What a text says: which patterns, where it belongs, what is suspected, what is still missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Action = Literal["route", "clarify", "need-error", "out-of-scope"]


@dataclass(frozen=True)
class Seen:
    """A pattern seen in a text: its 1-based line, that line's text, its rank where known, and how often.

    ``wording`` is the catalogue's message; empty where the user's own words tell of it.
    """

    pattern: str
    line: int
    text: str
    wording: str = ""
    rank: int | None = None
    count: int = 1


@dataclass(frozen=True)
class Suspicion:
    """A cause to be tested: what would confirm it, what refute it, and the command that tells."""

    cause: str
    title: str
    why: str
    confirms: str
    refutes: str
    command: str


@dataclass(frozen=True)
class Triage:
    """The first step for a text: never a cause, always what to do next.

    ``order`` lists ``patterns`` by criticality, wrappers last. ``advice`` and ``warned`` are ids of the catalogue's
    advice: recommended, and warned against. ``answered`` meets pressure with one courteous line; ``stop_gap`` is what
    does least harm until then, and is no fix. ``handover`` says who is better asked, with what to bring.
    """

    action: Action
    routes: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    seen: tuple[Seen, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    gather: tuple[str, ...] = ()
    question: str | None = None
    advice: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    answered: str | None = None
    stop_gap: str | None = None
    handover: str | None = None
    why: tuple[str, ...] = ()
