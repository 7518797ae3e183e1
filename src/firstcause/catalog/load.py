"""Reads the catalogue's files, each when it is first asked for."""

from __future__ import annotations

import difflib
import functools
import os
import sys
from typing import Any

from firstcause.errors import InputError, KnowledgeError
from firstcause.schema import Cause, from_plain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CHECK = "python -m firstcause.catalog.validate"
CAUSES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "causes")


def slugs(folder: str = CAUSES) -> tuple[str, ...]:
    """The slugs of all causes, sorted, without opening a file."""
    return tuple(sorted(name[: -len(".toml")] for name in os.listdir(folder) if name.endswith(".toml")))


def load() -> dict[str, Cause]:
    """Every cause of the catalogue by its slug; raises ``KnowledgeError`` where a file cannot be used."""
    return {slug: cause(slug) for slug in slugs()}


@functools.cache
def cause(slug: str) -> Cause:
    """One cause of the catalogue; raises ``InputError`` for a slug that it does not have."""
    if slug not in slugs():
        near = difflib.get_close_matches(slug, slugs(), n=1)
        hint = f"firstcause explain {near[0]}" if near else "firstcause explain lists what it has"
        raise InputError("cause-unknown", f"the catalogue has no cause {slug!r}", hint)
    path = os.path.join(CAUSES, slug + ".toml")
    try:
        return from_plain(Cause, read(path), slug)
    except ValueError as error:
        raise KnowledgeError("cause-invalid", f"{path}: {error}", _CHECK) from error


def read(path: str) -> dict[str, Any]:
    """A catalogue file as plain values, its line breaks and runs of spaces made one space.

    Raises ``KnowledgeError`` where the file is no TOML.
    """
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise KnowledgeError("cause-unreadable", f"{path}: {error}", _CHECK) from error
    return {key: _unwrapped(value) for key, value in values.items()}


def _unwrapped(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_unwrapped(v) for v in value]
    return value
