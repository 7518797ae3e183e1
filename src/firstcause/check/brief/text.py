from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["brief", "transcript", "comment", "requirements", "config comment"]


@dataclass(frozen=True)
class Text:
    """A text that may hold wishes: what it says, the name of where it stands, and what sort of text it is.

    ``line`` is the number of its first line where the text is a part of a file, such as a comment.
    """

    content: str
    origin: str = "brief"
    kind: Kind = "brief"
    line: int = 1
