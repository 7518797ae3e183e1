"""JSON objects that carry their own checksum, so that a flipped bit is damage and never another fact."""

from __future__ import annotations

import json
import zlib
from typing import Any

KEY = "crc32"


def dumps(value: Any, indent: int | None = 1) -> str:
    """The text of a JSON value; an object gets its checksum as its last key."""
    if not isinstance(value, dict):
        return json.dumps(value, indent=indent, default=str)
    # What json makes of keys and values that it does not know is part of what is summed.
    plain = json.loads(json.dumps(value, default=str))
    return json.dumps({**plain, KEY: _sum(plain)}, indent=indent)


def loads(text: str) -> Any:
    """The value again, without its checksum; one that has none is taken as it is.

    Raises ``ValueError`` where the text is no JSON or does not fit its checksum.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(value, dict) or KEY not in value:
        return value
    said = value.pop(KEY)
    if said != _sum(value):
        raise ValueError("its content does not fit its checksum")
    return value


def _sum(plain: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(plain).encode())
