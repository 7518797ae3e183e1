"""What happened in a run, in order: the words of both sides, the calls, and what they gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["user", "agent", "call", "result", "edit", "denied", "approved", "ran"]


@dataclass(frozen=True)
class Event:
    """One step: ``edit`` is a file that was changed, ``ran`` the program that was run again, ``approved`` a person's yes."""

    kind: Kind
    text: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class Transcript:
    """The events of one run; ``from_outside`` where calls are not seen, only what they did to the program."""

    events: list[Event] = field(default_factory=list)
    from_outside: bool = False

    def add(self, kind: Kind, text: str, /, **data: Any) -> None:
        """Keep one more event."""
        self.events.append(Event(kind, text, data))

    def of(self, *kinds: Kind) -> Iterator[Event]:
        """The events of these kinds."""
        return (event for event in self.events if event.kind in kinds)

    def first(self, kind: Kind) -> int | None:
        """Where the first event of a kind stands."""
        return next((at for at, event in enumerate(self.events) if event.kind == kind), None)

    def last(self, kind: Kind) -> int | None:
        """Where the last event of a kind stands."""
        return next((at for at in range(len(self.events) - 1, -1, -1) if self.events[at].kind == kind), None)

    def said(self) -> str:
        """All that the agent said."""
        return "\n".join(event.text for event in self.of("agent"))
