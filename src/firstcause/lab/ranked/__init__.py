"""What is watched in each rank of a program that is run again in a confined copy: one file a watcher.

Nothing here runs in the user's own run: functions of torch are replaced, and every line of the program is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any


class Watcher:
    """Nothing seen: what each watcher overrides a few methods of."""

    # The modules of torch that it changes as they load, by name.
    PATCHES: tuple[str, ...] = ()
    # Writes down where the rank stands, at once; None before it is a rank.
    look: Callable[[], None] | None = None

    def patch(self, module: ModuleType) -> None:
        """A module of ``PATCHES`` has loaded."""

    def ranked(self) -> None:
        """This process has joined a group: what was seen before is another rank's too."""

    def stepped(self, optimizer: Any) -> None:
        """Gradients are complete; the optimizer has not yet stepped."""

    def facts(self) -> Any:
        """What was seen so far, in plain values."""
        return None


def around(holder: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace ``holder.name`` by what ``make`` makes of it."""
    setattr(holder, name, make(getattr(holder, name)))
