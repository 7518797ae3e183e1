"""The causes of the catalogue, each made when it is first asked for."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import Any

from firstcause.catalog.index import COMPILE, indexed
from firstcause.catalog.toml import HERE, read
from firstcause.errors import InputError, KnowledgeError
from firstcause.schema import Cause

__all__ = ["CAUSES", "cause", "load", "nearest", "read", "slugs"]
CAUSES = os.path.join(HERE, "causes")


def slugs() -> tuple[str, ...]:
    """The slugs of all causes, sorted."""
    return tuple(indexed("causes"))


def load() -> dict[str, Cause]:
    """Every cause of the catalogue by its slug; raises ``KnowledgeError`` where one cannot be used."""
    return {slug: cause(slug) for slug in slugs()}


@functools.cache
def cause(slug: str) -> Cause:
    """One cause of the catalogue; raises ``InputError`` for a slug that it does not have."""
    values = indexed("causes").get(slug)
    if values is None:
        raise InputError("cause-unknown", f"the catalogue has no cause {slug!r}", nearest(slug, slugs()))
    # The validator has checked the types; checked again here they would take most of the time.
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    try:
        return Cause(**fields)
    except TypeError as error:
        raise KnowledgeError("cause-invalid", f"{slug}: {error}", COMPILE) from error


def nearest(slug: str, known: Iterable[str]) -> str:
    """The command that explains the entry whose slug looks most like this one, or says how to list them."""
    # Only a mistyped slug needs it, and a short triage is over before it is imported.
    import difflib

    near = difflib.get_close_matches(slug, list(known), n=1)
    return f"firstcause explain {near[0]}" if near else "firstcause explain lists what it has"
