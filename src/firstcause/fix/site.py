"""The line to fix for a cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firstcause.fix.patches import PATCHES
from firstcause.schema import Site
from firstcause.source import Project


def line_to_fix(cause: str, facts: Mapping[str, Any], project: Project) -> Site | None:
    """The line to change for a cause, which is seldom the line that raised; None where the code does not show it."""
    module = PATCHES.get(cause)
    site: Site | None = module.line(facts, project) if module is not None else None
    return site
