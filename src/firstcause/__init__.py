"""firstcause finds the first cause of a failing PyTorch run, proves it, and only then fixes it.

PYTEST_DONT_REWRITE: a recorded pytest finds this package imported before its own start, and would warn of that.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"


def observe(model: Any = None, optimizer: Any = None) -> str:
    """Record this training from here on, two lines in place of ``firstcause run``; gives the folder of the record.

    ``optimizer`` may be a list; without it all optimizers are followed. A process that is observed already is left alone.
    """
    # By name: whatever imports this package must not reach torch.
    inside = importlib.import_module("firstcause.record.inside")
    path: str = inside.observe(model, optimizer)
    return path


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext firstcause``: the magics ``%%firstcause`` and ``%triage``."""
    importlib.import_module("firstcause.integrations.notebook.extension").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext firstcause``: takes the magics out again."""
    importlib.import_module("firstcause.integrations.notebook.extension").unload(shell)
