"""All watchers of one rank, and what they saw, asked by the thread that writes where the rank stands."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from firstcause.lab.ranked import Watcher
from firstcause.lab.ranked.batches import Batches
from firstcause.lab.ranked.calls import Calls
from firstcause.lab.ranked.files import Files
from firstcause.lab.ranked.lines import Lines
from firstcause.lab.ranked.replicas import Replicas
from firstcause.lab.ranked.wrapped import Wrapped


class Audit:
    """The watchers of this process; a failure of theirs is told in the facts, and the program goes on."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self.watchers: dict[str, Watcher] = {
            "batches": Batches(),
            "replicas": Replicas(),
            "files": Files(),
            "wrapped": Wrapped(),
            "calls": Calls(),
        }

    def patches(self) -> dict[str, Callable[[ModuleType], None]]:
        """For the import hook: what is to be changed in which module."""
        found: dict[str, list[Callable[[ModuleType], None]]] = {}
        for watcher in self.watchers.values():
            for name in watcher.PATCHES:
                found.setdefault(name, []).append(watcher.patch)
        found.setdefault("torch.optim.optimizer", []).append(self._hook)

        def all_of(patches: list[Callable[[ModuleType], None]]) -> Callable[[ModuleType], None]:
            def patch_all(module: ModuleType) -> None:
                for patch in patches:
                    patch(module)

            return patch_all

        return {name: all_of(patches) for name, patches in found.items()}

    def ranked(self, folder: str, frame: FrameType, look: Callable[[], None]) -> Callable[[], dict[str, Any]]:
        """This process has joined a group; from here on its lines are followed, those of ``frame`` and below.

        ``look`` writes down where it stands, with what the watchers saw.
        """
        for watcher in self.watchers.values():
            watcher.look = look
            watcher.ranked()
        Lines(folder, frame)
        return self.facts

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {"failed": self.failed}
        for name, watcher in self.watchers.items():
            try:
                found[name] = watcher.facts()
            except Exception:  # noqa: BLE001 - the others have seen something all the same
                self.failed[name] = traceback.format_exc(limit=-3)
        return found

    def _hook(self, module: ModuleType) -> None:
        module.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: self._stepped(optimizer))

    def _stepped(self, optimizer: Any) -> None:
        for name, watcher in self.watchers.items():
            try:
                watcher.stepped(optimizer)
            except Exception:  # noqa: BLE001
                self.failed[name] = traceback.format_exc(limit=-3)
