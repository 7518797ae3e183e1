from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstcause.schema.site import Site

# In the order of the report: what fails or trains wrongly, what is not as asked, what was not asked, then advice.
Category = Literal["critical", "deviation", "assumption", "overengineering", "warning", "suggestion"]


@dataclass(frozen=True)
class Finding:
    """What a reading of code found: a rule's slug, its category, where, what was asked for and what was got.

    ``key`` is the instruction's key, ``argument`` the name of the argument that is meant. A deviation whose reason
    stands in the code is ``justified``. ``related`` are the other places that belong to it. ``cell`` and ``cell_line``
    count from 1 in a notebook, where the site's line is that of the file as it lies on disk.
    """

    slug: str
    category: Category
    site: Site
    message: str
    asked: str = ""
    got: str = ""
    key: str = ""
    argument: str = ""
    justified: bool = False
    end_line: int = 0
    related: tuple[Site, ...] = ()
    cell: int = 0
    cell_line: int = 0
