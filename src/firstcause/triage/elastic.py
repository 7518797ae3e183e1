"""Error files of torch elastic: what a worker wrote before it died, as the text that it would have printed."""

from __future__ import annotations

import json
from typing import Any

MOST = 8 << 20


def looks_like_error_file(head: bytes) -> bool:
    """Whether a file begins as the JSON of an error file does."""
    return head.lstrip()[:1] == b"{" and b'"message"' in head[:200]


def error_file(data: bytes) -> str | None:
    """The traceback and message in an error file; None where the bytes are none."""
    try:
        values: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    inner = values.get("message") if isinstance(values, dict) else None
    if isinstance(inner, str):
        # Written where the record decorator could not tell more.
        return (
            inner if set(values) <= {"message", "timestamp", "errorCode", "error_code", "extraInfo"} else None
        )
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str):
        return None
    extra = inner.get("extraInfo")
    stack = extra.get("py_callstack") if isinstance(extra, dict) else None
    code = inner.get("errorCode", inner.get("error_code"))
    told = [stack.rstrip("\n") if isinstance(stack, str) else inner["message"]]
    if isinstance(stack, str) and inner["message"].split("\n")[0] not in stack:
        told.append(inner["message"])
    if isinstance(code, int) and not isinstance(code, bool):
        told.append(f"exitcode: {code}")
    return "\n".join(told) + "\n"
