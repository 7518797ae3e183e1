"""How much the skills hold, kind by kind, against the least that they have to hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from firstcause.catalog.load import slugs
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.sayings import excuses, misbeliefs, red_flags
from firstcause.catalog.specialists import DRY_DEBUGGING
from firstcause.skills.knowledge import ROUTER, SYSTEMATIC, load_skills


class Counted(NamedTuple):
    """How many of a kind there are, and how many there have to be."""

    kind: str
    found: int
    least: int


# By topic. What packs for PyTorch that are in use hold, counted topic by topic: none of it is to be lost.
EXCUSES = {
    "routing": 10,
    "debugging": 14,
    "pressure": 8,
    "memory": 6,
    "profiling": 7,
    "distributed": 13,
    "mixed-precision": 12,
    "autograd": 17,
    "checkpointing": 16,
    "modules": 10,
}
RED_FLAGS = {
    "routing": 9,
    "debugging": 15,
    "pressure": 4,
    "memory": 7,
    "profiling": 8,
    "distributed": 10,
    "mixed-precision": 11,
    "autograd": 17,
    "checkpointing": 40,
    "modules": 8,
}
# By skill.
PITFALLS = {
    SYSTEMATIC: 8,
    "tensor-operations-and-memory": 10,
    "performance-profiling": 6,
    "distributed-training-strategies": 24,
    "mixed-precision-and-optimization": 18,
    "custom-autograd-functions": 15,
    "checkpointing-and-reproducibility": 8,
    "module-design-patterns": 10,
}
EDGES = {
    "tensor-operations-and-memory": 6,
    "distributed-training-strategies": 10,
    "mixed-precision-and-optimization": 3,
}
ROUTES = {"Routes": 9, "Common wrong routes": 10, "One question where the words fit several": 4}
CHECKS = 6


def counted() -> list[Counted]:
    """Each kind with its number and the least number."""
    return [*_counted()]


def _counted() -> Iterator[Counted]:
    skills = load_skills()
    said = Counter(excuse.topic for excuse in excuses().values())
    flags = Counter(flag.topic for flag in red_flags().values())
    yield Counted("skills: router, ways of working, specialists", len(skills), 12)
    yield from (Counted(f"excuses, {topic}", said[topic], least) for topic, least in EXCUSES.items())
    yield from (Counted(f"red flags, {topic}", flags[topic], least) for topic, least in RED_FLAGS.items())
    yield from (Counted(f"pitfalls, {slug}", len(skills[slug].pitfalls), n) for slug, n in PITFALLS.items())
    yield from (Counted(f"edge cases, {slug}", len(skills[slug].edges), n) for slug, n in EDGES.items())
    yield from (
        Counted(f"questions to oneself, {skill.name}", len(skill.checks), CHECKS) for skill in skills.values()
    )
    rows = {table.title: len(table.rows) for table in skills[ROUTER].tables}
    yield from (Counted(f"router, {title.lower()}", rows.get(title, 0), n) for title, n in ROUTES.items())
    dry = skills[DRY_DEBUGGING].tables
    yield Counted("looks before a run", sum(len(table.rows) for table in dry), 12)
    yield Counted("patterns of errors and symptoms", len(load_patterns()), 20)
    yield Counted("causes", len(slugs()), 88)
    yield Counted("beliefs that are wrong", len(misbeliefs()), 17)
