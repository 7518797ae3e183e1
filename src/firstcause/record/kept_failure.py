"""The form of what was kept of a failing step: a record that somebody else has changed is named as such, part by part."""

from __future__ import annotations

from collections import deque
from typing import Any

# Words that mean one kind of value wherever they stand; None stands for what was not seen.
OBJECTS = "activations alone chain graph origin output refused replay site trace unit variables"
LISTS = """
ancestors bad_gradients bad_losses bad_parameters births command element first_rows frames losses operands operands_at shape signs
"""
TEXTS = "device dtype file function kind message module op phase text"
NUMBERS = "line number"
_KIND: dict[str, type] = {
    name: kind
    for names, kind in ((OBJECTS, dict), (LISTS, list), (TEXTS, str), (NUMBERS, int))
    for name in names.split()
}
# Lists and objects whose parts are objects, numbers or texts throughout.
_PARTS: dict[str, type] = {
    "activations": dict,
    "births": dict,
    "frames": dict,
    "chain": dict,
    "ancestors": int,
    "signs": str,
    "command": str,
    "variables": str,
}
# What every birth has; the specialists ask for it without a look.
_BIRTH = ("op", "number", "kind", "phase", "ancestors", "site")
# What every place in the program has, and every bad value that was there before the step.
_SITE = ("file", "line")
_SOURCE = ("origin", "output", "rows", "first_rows")
_SAID = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


def misfit(facts: Any) -> str:
    """What in the facts of a failing step has not its form: the part and what it should be; empty where all has."""
    left: deque[tuple[str, Any]] = deque([("it", facts)])
    while left:
        where, value = left.popleft()
        if isinstance(value, list):
            left.extend((f"{where}[{number}]", part) for number, part in enumerate(value))
        elif isinstance(value, dict):
            # Under other names stand the program's own: its settings, its objects.
            known = [(name, f"{where}.{name}", part) for name, part in value.items() if name in _KIND]
            said = next(filter(None, (_of_kind(*one) for one in known)), "") or _lacking(where, value)
            if said:
                return said
            left.extend((place, part) for _, place, part in known)
    return ""


def _lacking(where: str, facts: dict[str, Any]) -> str:
    for name in ("command", "variables"):
        if facts.get("alone") is not None and not facts["alone"].get(name):
            return f"{where}.alone has no {name}"
    # Beside the births stand the losses of the replay; those of the step itself are numbers.
    for number, loss in enumerate((facts.get("losses") or ()) if "births" in facts else ()):
        if not isinstance(loss, dict) or not isinstance(loss.get("ancestors"), list):
            return f"{where}.losses[{number}] has no ancestors"
    for number, birth in enumerate(facts.get("births") or ()):
        for name in (*_BIRTH, *(_SOURCE if birth.get("op") == "source" else ())):
            if birth.get(name) is None:
                return f"{where}.births[{number}] has no {name}"
    return next(
        (f"{where} has no {n}" for n in _SITE if where.endswith(".site") and facts.get(n) is None), ""
    )


def _of_kind(name: str, where: str, value: Any) -> str:
    kind = _KIND[name]
    if value is None:
        return ""
    if not _is(value, kind):
        return f"{where} is not {_SAID[kind]}"
    part = _PARTS.get(name)
    parts = value.values() if isinstance(value, dict) else value
    if part is not None and not all(_is(one, part) for one in parts):
        return f"{where} holds what is not {_SAID[part]}"
    return ""


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))
