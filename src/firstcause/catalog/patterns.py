"""Error patterns: how failures are worded, by version, and what each leads to."""

from __future__ import annotations

import functools
from typing import Any

from firstcause.catalog.index import COMPILE, indexed
from firstcause.catalog.load import nearest
from firstcause.errors import InputError, KnowledgeError
from firstcause.schema import Message, Pattern


@functools.cache
def load_patterns() -> dict[str, Pattern]:
    """Every pattern by its slug; raises ``KnowledgeError`` where the index cannot be used."""
    try:
        return {slug: _pattern(values) for slug, values in indexed("patterns").items()}
    except (TypeError, AttributeError) as error:
        raise KnowledgeError("pattern-invalid", f"patterns.json: {error}", COMPILE) from error


def _pattern(values: dict[str, Any]) -> Pattern:
    # The validator has checked the types; checked again here it would take longer than the rest of a short triage.
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return Pattern(**{**values, **lists, "messages": tuple(Message(**m) for m in values.get("messages", ()))})


def pattern(slug: str) -> Pattern:
    """One pattern; raises ``InputError`` for a slug that the catalogue does not have."""
    patterns = load_patterns()
    if slug not in patterns:
        raise InputError("pattern-unknown", f"the catalogue has no pattern {slug!r}", nearest(slug, patterns))
    return patterns[slug]
