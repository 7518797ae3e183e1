"""Assumptions that a person has confirmed, with the values they had then: ``.firstcause/confirmed.json``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from firstcause.errors import InputError
from firstcause.schema.finding import Finding

FILE = os.path.join(".firstcause", "confirmed.json")


def confirmed(root: str) -> dict[str, str]:
    """The confirmed keys with their values; raises ``InputError`` where the file is not readable."""
    path = os.path.join(root, FILE)
    if not os.path.exists(path):
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or not all(isinstance(v, str) for v in data.values()):
            raise ValueError("no object of texts")
    except (OSError, ValueError, RecursionError) as error:
        message = f"{path} cannot be read: {error}"
        raise InputError("confirmed-unreadable", message, "delete it, and confirm again") from error
    return data


def without_confirmed(findings: Sequence[Finding], known: dict[str, str]) -> tuple[list[Finding], int]:
    """The findings without confirmed assumptions, and how many those are; one whose value changed is asked again."""
    kept = [f for f in findings if f.category != "assumption" or known.get(f.key) != f.got]
    return kept, len(findings) - len(kept)


def confirm(root: str, key: str, findings: Sequence[Finding]) -> str:
    """Keep an assumption with its value, and give that back.

    Raises ``InputError`` where nothing of this key is assumed, or the file cannot be written.
    """
    open_ones = {f.key: f.got for f in findings if f.category == "assumption"}
    known = confirmed(root)
    if key not in open_ones:
        if key in known:
            return known[key]
        hint = f"open: {', '.join(sorted(open_ones))}" if open_ones else "no assumption is open"
        raise InputError("confirm-unknown", f"the code assumes nothing of {key}", hint)
    path = os.path.join(root, FILE)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(dict(sorted({**known, key: open_ones[key]}.items())), file, indent=1)
            file.write("\n")
        os.replace(f"{path}.new", path)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise InputError(
            "confirmed-unwritable", message, "run it where the project may be written"
        ) from error
    return open_ones[key]
