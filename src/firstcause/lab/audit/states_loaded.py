"""State dicts that were loaded with ``strict=False``: how many keys matched, and how many would without a prefix."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Watcher

SHOWN = 4


class Watch(Watcher):
    """Facts: ``loaded``, the last loading of each module that left keys out."""

    def start(self) -> None:
        self.loaded: dict[int, dict[str, Any]] = {}
        load = torch.nn.Module.load_state_dict

        @functools.wraps(load)
        def loading(module: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            result = load(module, state_dict, *args, **kwargs)
            caller = sys._getframe(1)
            # A wrapper's call on the module inside it is the wrapper's own.
            if isinstance(state_dict, Mapping) and places.is_user_file(caller.f_code.co_filename):
                self._note(module, state_dict, places.of_frame(caller, columns=True))
            return result

        torch.nn.Module.load_state_dict = loading

    def _note(self, module: Any, given: Mapping[str, Any], site: dict[str, Any] | None) -> None:
        own = set(module.state_dict())
        matched = own & set(given)
        self.loaded.pop(id(module), None)
        if not own or len(matched) == len(own) or site is None:
            return
        side, prefix, then = max(_prefixed(own, set(given)), key=lambda p: p[2], default=("", "", 0))
        self.loaded[id(module)] = {
            "site": site,
            "class": type(module).__name__,
            "own": len(own),
            "given": len(given),
            "matched": len(matched),
            "side": side,
            "prefix": prefix,
            "matched_then": then,
            "names": [min(own), min(given, default="")],
        }

    def facts(self) -> dict[str, Any]:
        return {"loaded": list(self.loaded.values())[:SHOWN]}


def _prefixed(own: set[str], given: set[str]) -> list[tuple[str, str, int]]:
    """Each first part of a name that one side may have too many, and how many keys match without it."""
    found = []
    for side, names, others in (("given", given, own), ("own", own, given)):
        for prefix in {n.partition(".")[0] + "." for n in names if "." in n}:
            found.append((side, prefix, len({n.removeprefix(prefix) for n in names} & others)))
    return found
