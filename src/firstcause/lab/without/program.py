"""Inside the program, before its first line: each component watched, and those that the environment names switched off."""

from __future__ import annotations

import importlib
import json
import os

from firstcause.lab.without import COMPONENTS, MET, WITHOUT


def begin() -> None:
    """Install every component at the level that ``FIRSTCAUSE_WITHOUT`` gives it, as JSON."""
    levels: dict[str, str] = json.loads(os.environ[WITHOUT])
    for name in COMPONENTS:
        module = importlib.import_module(f"firstcause.lab.without.{name}")
        module.install(levels.get(name, ""), Met(name))


class Met:
    """Says once that the program uses a component: an empty file of its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.said = False

    def __call__(self) -> None:
        if not self.said:
            self.said = True
            path = os.path.join(os.environ[MET], self.name)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
