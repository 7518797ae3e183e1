"""Weights of which not one fits by its name are loaded, and ``strict=False`` hides it.

Seen: no key of the state is one of the module's, and each of the state's is one with a prefix taken off or put before it.
Refuted by: one key that fits.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.watcher import Watcher


class NothingLoaded(Watcher):
    SLUG = "module-prefix-strict-false"

    def restored(self, module: Any, state: Any, strict: bool) -> None:
        wanted, given = set(module.state_dict()), set(state)
        if strict or not wanted or not given or wanted & given:
            return
        prefix = _prefix(given, wanted) or _prefix(wanted, given)
        if prefix:
            text = (
                f"none of the {len(given)} names in this state is one of {type(module).__name__}'s {len(wanted)}: they differ by "
                f"the prefix {prefix!r}, and with strict=False nothing is loaded and nothing raises"
            )
            self.session.find(self.SLUG, "critical", text)


def _prefix(longer: set[str], shorter: set[str]) -> str:
    """What all of the longer names have before names of the shorter ones; empty where there is no such thing."""
    first = next(iter(longer))
    for at in range(len(first)):
        prefix = first[: at + 1]
        if prefix.endswith(".") and all(
            name.startswith(prefix) and name.removeprefix(prefix) in shorter for name in longer
        ):
            return prefix
    return ""
