"""Hooks that one statement registers again and again on the same module or tensor, and that stay."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Watcher

METHODS = {
    torch.nn.Module: (
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
    ),
    torch.Tensor: ("register_hook", "register_post_accumulate_grad_hook"),
}
# Two of one kind may be meant, as before and after a wrapper; a third on the same object is a pile.
PILE = 3
SHOWN = 4
CALLERS = 6


class Watch(Watcher):
    """Facts: ``hooks``, a place a statement: how often it registered, on how many objects, and how many stay on one."""

    def start(self) -> None:
        # Of each registration the table that it went into and its number there, the object, and the method. The table
        # and not the handle: a handle may be thrown away.
        self.made: dict[tuple[str, int], list[tuple[Any, int, int, str]]] = {}
        self.sites: dict[tuple[str, int], dict[str, Any]] = {}
        self.callers: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for kind, names in METHODS.items():
            for name in names:
                if hasattr(kind, name):
                    setattr(kind, name, self._watched(getattr(kind, name)))

    def _watched(self, register: Any) -> Any:
        @functools.wraps(register)
        def registered(owner: Any, *args: Any, **kwargs: Any) -> Any:
            handle = register(owner, *args, **kwargs)
            caller = sys._getframe(1)
            # Ours and the libraries' are not the program's to remove.
            if places.is_user_file(caller.f_code.co_filename):
                site = places.of_frame(caller, columns=True)
                assert site is not None
                key = (site["file"], site["line"])
                self.sites.setdefault(key, site)
                if key not in self.callers:
                    self.callers[key] = list(places.stack(caller.f_back))[:CALLERS]
                entry = (handle.hooks_dict_ref, handle.id, id(owner), register.__name__)
                self.made.setdefault(key, []).append(entry)
            return handle

        return registered

    def facts(self) -> dict[str, Any]:
        found = []
        for key, made in self.made.items():
            stay: dict[int, int] = {}
            for table, number, owner, _ in made:
                hooks = table()
                if hooks is not None and number in hooks:
                    stay[owner] = stay.get(owner, 0) + 1
            if stay and max(stay.values()) >= PILE:
                found.append(
                    {
                        "site": self.sites[key],
                        "callers": self.callers[key],
                        "method": made[0][3],
                        "registered": len(made),
                        "stay": sum(stay.values()),
                        "objects": len(stay),
                        "most": max(stay.values()),
                    }
                )
        return {"hooks": found[:SHOWN]}
