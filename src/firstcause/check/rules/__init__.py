"""The rules, one a file, found by their place: ``rules/<family>/<slug with underscores>.py``."""

from __future__ import annotations

import functools
import importlib
import os
from typing import cast

from firstcause.check.rule import Rule

_HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by family and slug."""
    return tuple(cast(Rule, importlib.import_module(f"{__name__}.{name}")) for name in _names())


def _names() -> list[str]:
    found = []
    for family in sorted(os.listdir(_HERE)):
        folder = os.path.join(_HERE, family)
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            files = sorted(os.listdir(folder))
            found += [f"{family}.{f[:-3]}" for f in files if f.endswith(".py") and not f.startswith("_")]
    return found
