from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstcause.schema.site import Site

Category = Literal["critical", "deviation", "assumption", "warning", "suggestion"]


@dataclass(frozen=True)
class Finding:
    """What a reading of code found: a rule's slug, its category, where, what was asked for and what was got."""

    slug: str
    category: Category
    site: Site
    message: str
    asked: str = ""
    got: str = ""
