"""The patch for a cause, built from the facts of a replay and the flow of values; none is better than a guessed one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firstcause.fix.patches import PATCHES
from firstcause.fix.review import Setting, review
from firstcause.schema import Diagnosis, Fix
from firstcause.source import Project


def propose(cause: str, facts: Mapping[str, Any], project: Project, root: str) -> Fix | None:
    """The fix that the code and the facts support, its diff relative to ``root``; None where they do not show one.

    The keys of ``facts`` are listed in the docstring of the cause's module in ``fix/patches``.
    """
    module = PATCHES.get(cause)
    fix: Fix | None = module.patch(facts, project, root) if module is not None else None
    # What nobody else may propose is not proposed here either.
    return fix if fix is None or _mends(fix, root) else None


def _mends(fix: Fix, root: str) -> bool:
    """Whether the review of patches has nothing against a fix for its cause."""
    setting = Setting(Diagnosis("established", None, fix.cause, None, (), {}))
    return review(fix.diff, root, setting).passed
