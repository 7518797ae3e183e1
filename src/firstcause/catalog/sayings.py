"""What is said and believed instead of looking: excuses with their counters, red flags, and beliefs that are wrong."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TypeVar

from firstcause.catalog.index import COMPILE, indexed
from firstcause.errors import KnowledgeError
from firstcause.schema import from_plain

T = TypeVar("T")


@dataclass(frozen=True)
class Excuse:
    """What somebody says in place of looking, and the one sentence that answers it."""

    topic: str
    says: str
    counter: str


@dataclass(frozen=True)
class RedFlag:
    """A sign that a search has left its track, what is so, and what to do instead."""

    topic: str
    sign: str
    reality: str
    instead: str


@dataclass(frozen=True)
class Misbelief:
    """A claim that is often repeated and wrong, what is so, and where that is shown: an address or a test."""

    claim: str
    fact: str
    proof: str


@functools.cache
def excuses() -> dict[str, Excuse]:
    """Every excuse by its slug."""
    return _all(Excuse, "excuses")


@functools.cache
def red_flags() -> dict[str, RedFlag]:
    """Every red flag by its slug."""
    return _all(RedFlag, "red_flags")


@functools.cache
def misbeliefs() -> dict[str, Misbelief]:
    """Every belief that is wrong by its slug."""
    return _all(Misbelief, "misbeliefs")


def _all(kind: type[T], name: str) -> dict[str, T]:
    try:
        return {slug: from_plain(kind, values, slug) for slug, values in indexed(name).items()}
    except ValueError as error:
        raise KnowledgeError("catalogue-invalid", f"{name}: {error}", COMPILE) from error
