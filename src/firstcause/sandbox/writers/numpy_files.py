"""NumPy opens its files by ``open``, but keeps a table of openers that it filled when it was imported."""

from __future__ import annotations

import builtins
from types import ModuleType


def patch(module: ModuleType) -> None:
    """``savetxt``, ``loadtxt`` and ``genfromtxt`` go through this table."""
    module._file_openers._file_openers[None] = builtins.open
