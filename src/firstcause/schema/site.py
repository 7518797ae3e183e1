from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A place in the user's code: file (as the user would type it), 1-based line, function, the line itself."""

    file: str
    line: int
    function: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"
