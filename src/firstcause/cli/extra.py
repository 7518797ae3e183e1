"""The packages of the extra [view], without which a verb says what to install."""

from __future__ import annotations

import importlib.util

from firstcause.errors import InputError


def need(what: str, *packages: str) -> None:
    """Raises ``InputError`` for the first of the packages that is not installed; nothing is imported."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            message = f"{what} needs the package {package}, which is not installed"
            raise InputError("view-missing", message, "pip install 'firstcause[view]'")
