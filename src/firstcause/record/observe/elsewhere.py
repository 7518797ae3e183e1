"""What an experiment or a sealed process is told to use, of rooms that this one may not import."""

from __future__ import annotations

import importlib
from typing import Any


def named(place: str) -> Any:
    """The object that ``place`` names as ``module:attribute``; what its import raises comes through."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)
