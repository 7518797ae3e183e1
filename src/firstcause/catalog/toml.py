"""Reads one TOML file of the catalogue."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from firstcause.errors import KnowledgeError

HERE = os.path.dirname(os.path.abspath(__file__))


def read(path: str) -> dict[str, Any]:
    """A catalogue file as plain values, its line breaks and runs of spaces made one space.

    Raises ``KnowledgeError`` where the file is no TOML.
    """
    # What is compiled is read without it, and a short triage is over before it is imported.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            "cause-unreadable", f"{path}: {error}", "python -m firstcause.catalog.validate"
        ) from error
    return {key: _unwrapped(value) for key, value in values.items()}


@functools.cache
def check_table(name: str) -> dict[str, Any]:
    """A table of ``catalog/check``, read once; raises ``KnowledgeError`` as ``read`` does."""
    return read(os.path.join(HERE, "check", f"{name}.toml"))


def _unwrapped(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_unwrapped(v) for v in value]
    if isinstance(value, dict):
        return {key: _unwrapped(v) for key, v in value.items()}
    return value
