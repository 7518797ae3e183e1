"""``[tool.firstcause.check]`` in pyproject.toml: what is checked, and which rules speak; the command line comes first."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.errors import InputError
from firstcause.pyproject import nearest_table
from firstcause.schema.finding import Finding


@dataclass(frozen=True)
class Settings:
    """Rules that speak (all where ``select`` is empty) and that are silent, paths left out, and paths where none is given.

    ``select`` and ``ignore`` hold slugs or categories; ``exclude`` patterns such as ``examples/*``.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is to be reported."""
        if any(_means(name, finding) for name in self.ignore):
            return False
        return not self.select or any(_means(name, finding) for name in self.select)


def _means(name: str, finding: Finding) -> bool:
    # A slug that ends in a dash stands for all that begin with it: removed-argument- and its kin.
    return name in (finding.slug, finding.category) or (name.endswith("-") and finding.slug.startswith(name))


def read_settings(cwd: str) -> Settings:
    """The settings for a folder, from the nearest pyproject.toml at or above it that has them.

    Raises ``InputError`` for a file that cannot be read and for a setting that is none.
    """
    found = nearest_table(cwd, "firstcause", "check")
    return _settings(*found) if found is not None else Settings()


def _settings(table: dict[str, Any], path: str) -> Settings:
    known = ", ".join(Settings.__dataclass_fields__)
    for name, given in table.items():
        if name not in Settings.__dataclass_fields__:
            message = f"{path} sets check.{name}, which is none of {known}"
            raise InputError("setting-invalid", message, "correct it")
        if not isinstance(given, list) or not all(isinstance(g, str) for g in given):
            message = f"{path}: check.{name} is {given!r} and has to be a list of texts"
            raise InputError("setting-invalid", message, f'write {name} = ["..."]')
    return Settings(**{name: tuple(given) for name, given in table.items()})


def is_excluded(path: str, root: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder that it is in, is meant by a pattern; patterns are relative to the root."""
    if not patterns:
        return False
    parts = os.path.relpath(os.path.abspath(path), root).split(os.sep)
    above = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    return any(fnmatch.fnmatch(a, p.rstrip("/")) for a in above for p in patterns)
