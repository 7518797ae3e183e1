"""What was looked at now and then: how far weights move, the terms of the loss, where the time of the steps goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from firstcause.record.kept_looks import KeptProfile
from firstcause.view.following import Follower
from firstcause.view.numbers import figure

_UPDATES = ("lowest parameter", "median", "highest parameter")
_SHOWN = 8


def sampled(follower: Follower) -> Iterator[dict[str, Any]]:
    """Series of the looks of one process: the ratio of update to weight, and the terms of the loss by name."""
    seen = [e for e in follower.events if e.get("event") == "look" and isinstance(e.get("step"), int)]
    moved = [e for e in seen if isinstance(e.get("updates"), list) and len(e["updates"]) == len(_UPDATES)]
    if moved:
        series = {name: [figure(e["updates"][n]) for e in moved] for n, name in enumerate(_UPDATES)}
        yield {
            "what": "updates",
            "label": f"rank {follower.rank}",
            "step": [e["step"] for e in moved],
            "series": series,
        }
    summed = [e for e in seen if isinstance(e.get("terms"), Mapping)]
    names = list(dict.fromkeys(name for e in summed for name in e["terms"]))[:_SHOWN]
    if names:
        terms = {name: [figure(e["terms"].get(name)) for e in summed] for name in names}
        yield {
            "what": "terms",
            "label": f"rank {follower.rank}",
            "step": [e["step"] for e in summed],
            "series": terms,
        }


def time_split(profile: KeptProfile) -> dict[str, Any]:
    """The parts of the steps' time by name and share, the lines that take most of it, and what was proven to help."""
    return {
        "step_ms": figure(profile.step_ms),
        "steps": profile.steps,
        "kind": profile.kind,
        "parts": [[one.name, figure(one.share)] for one in profile.parts],
        "lines": [[one.name, figure(one.share)] for one in profile.lines],
        "gain": figure(profile.gain),
    }
