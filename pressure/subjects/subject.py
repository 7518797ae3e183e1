"""What a subject is: it begins a session at a desk, and answers what the user says."""

from __future__ import annotations

from typing import Protocol

from pressure.desk import Desk
from pressure.scenario import Scenario


class SubjectFailed(Exception):
    """A subject that did not answer: the run says nothing about it."""


class Session(Protocol):
    """One talk. ``answer`` does what the subject does until it speaks; ``goes_on`` is whether it can answer again."""

    def answer(self, words: str) -> str: ...

    def goes_on(self) -> bool: ...


class Subject(Protocol):
    """Somebody who is tested, by name; ``tokens`` counts what the last session used, 0 where nobody tells."""

    @property
    def name(self) -> str: ...

    def begin(self, desk: Desk, scenario: Scenario) -> Session: ...

    def tokens(self) -> int: ...
