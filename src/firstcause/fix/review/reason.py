"""What a review says: each reason against a patch with its place, and the places that the patch changes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One reason against a patch: the rule, the file and line, what was seen and what it hides."""

    rule: str
    place: str
    text: str


@dataclass(frozen=True)
class Review:
    """A reviewed patch: the reasons against it, its files, and its places as FILE:LINE of the new text."""

    reasons: tuple[Reason, ...]
    files: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the patch."""
        return not self.reasons
