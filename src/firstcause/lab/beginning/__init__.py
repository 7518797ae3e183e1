"""A command in which every Python of the program begins with a function of ours, before its first line; no torch here."""

from __future__ import annotations

import os

from firstcause.lab.places import PACKAGE

HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook")


def environment(function: str) -> dict[str, str]:
    """Our own environment for a program that begins with ``module:function``; a recording around this one is not its own."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTCAUSE_")}
    return own | {
        "FIRSTCAUSE_BEGIN": function,
        "FIRSTCAUSE_BEGIN_PATH": os.path.dirname(PACKAGE),
        # Before the user's own entries, which stay as they are.
        "PYTHONPATH": os.pathsep.join(filter(None, [HOOK, os.environ.get("PYTHONPATH", "")])),
    }
