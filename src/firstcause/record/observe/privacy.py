"""``run --no-data``: what may be written of a failing step where no value of the user's data may be.

Shapes, dtypes, counts, names, lines and the op that went wrong stay; values of tensors, and messages that may quote
what the program was given, do not.
"""

from __future__ import annotations

import os
import re
from typing import Any

from firstcause.installed import is_installed

VARIABLE = "FIRSTCAUSE_NO_DATA"
WHY = "run --no-data keeps no values"
WITHHELD = f"<not kept: {WHY}>"
# Of tensors, what tells how they are made and not what they hold.
_KEPT = frozenset({"name", "shape", "dtype", "device", "nan", "inf", "-inf", "total", "not_finite"})
# What torch and Python say in these is about shapes, types and names, unless the program raises them itself.
_OWN_WORDS = frozenset({"RuntimeError", "TypeError", "AttributeError", "NotImplementedError", "IndexError"})
_AN_INDEX = re.compile(r"(?i)\b(index|target|out of (bounds|range)|class|label)")


def asked() -> bool:
    """Whether this run was begun with ``--no-data``."""
    return os.environ.get(VARIABLE) == "1"


def message(kind: str, text: str, frames: list[dict[str, Any]]) -> str:
    """The message of an exception where it quotes no data; numbers of an index or a target are data."""
    raised_by_program = not frames or frames[-1]["text"].lstrip().startswith(("raise", "assert"))
    if kind not in _OWN_WORDS or (raised_by_program and not _is_library(frames)):
        return WITHHELD
    return re.sub(r"-?\d+", "#", text) if kind == "IndexError" or _AN_INDEX.search(text) else text


def tensor(figures: dict[str, Any]) -> dict[str, Any]:
    """What may be said of a tensor."""
    return {k: v for k, v in figures.items() if k in _KEPT and k != "not_finite"}


def failure(facts: dict[str, Any]) -> dict[str, Any]:
    """What may be written of a failing step or call."""
    call = facts.get("call")
    if call is None:
        return facts
    return facts | {"call": call | {"inputs": [tensor(i) for i in call.get("inputs") or ()]}}


def replayed(facts: dict[str, Any]) -> dict[str, Any]:
    """What may be written of a replay: whether it was exact, and the op and line of its first bad value."""
    trace = facts.get("trace") or {}
    born = next((b for b in trace.get("births") or () if not b.get("constant")), None)
    refused = trace.get("refused") or {}
    seen = f"its first value that is not finite is {born['kind']}, made by {born['op']}" if born else ""
    place = born["site"] if born else None
    if refused.get("op"):
        seen, place = f"{refused['op']} refused its input", refused["site"]
    result: dict[str, Any] = {
        "status": "withheld",
        "exact": facts.get("exact", False),
        "seen": seen,
        "site": place,
    }
    why = facts.get("why") if facts.get("status") == "refused" else ""
    return (
        result | {"why": why or WHY} | {k: facts[k] for k in ("gradients", "equal", "outputs") if k in facts}
    )


def _is_library(frames: list[dict[str, Any]]) -> bool:
    return bool(frames) and is_installed(frames[-1]["file"])
