"""What each skill holds of its own, from ``catalog/skills``; what is common to several stands in the catalogue's lists."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from firstcause.catalog.load import read
from firstcause.catalog.specialists import DRY_DEBUGGING, ROUTES
from firstcause.catalog.toml import HERE
from firstcause.errors import KnowledgeError
from firstcause.schema import from_plain

FOLDER = os.path.join(HERE, "skills")
ROUTER = "firstcause"
SYSTEMATIC = "systematic-debugging"
SLUGS = (ROUTER, SYSTEMATIC, *ROUTES)
PITFALL = ("symptom", "cause", "fix", "more")


@dataclass(frozen=True)
class Table:
    """A table of the skill: its title, its columns and its rows, each as long as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Skill:
    """One skill: when it is used (symptoms only), the order of its steps, and what goes wrong.

    ``topics`` are those of the catalogue's excuses and red flags. A pitfall is symptom, cause, fix, and an entry of the
    catalogue or an address; a command is its words and what it shows; an edge is a case and what holds there.
    """

    slug: str
    title: str
    description: str
    principle: str
    topics: tuple[str, ...]
    steps: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    tools: tuple[str, ...]
    checks: tuple[str, ...]
    pitfalls: tuple[tuple[str, ...], ...] = ()
    edges: tuple[tuple[str, ...], ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def name(self) -> str:
        """The folder's name, which the front matter repeats."""
        return self.slug if self.slug == ROUTER else f"{ROUTER}-{self.slug}"

    @property
    def specialist(self) -> bool:
        """Whether causes and patterns of the catalogue belong to it."""
        return self.slug in ROUTES and self.slug != DRY_DEBUGGING


@functools.cache
def load_skills() -> dict[str, Skill]:
    """Every skill by its slug, the router first; raises ``KnowledgeError`` where a file cannot be used."""
    return {slug: _skill(slug) for slug in SLUGS}


def _skill(slug: str) -> Skill:
    path = os.path.join(FOLDER, slug + ".toml")
    try:
        return from_plain(Skill, {"slug": slug, **read(path)}, slug)
    except ValueError as error:
        raise KnowledgeError("skill-invalid", f"{path}: {error}", "correct the file") from error
