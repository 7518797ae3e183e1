"""torchrun's own summary: the file in which a failing rank tells it why, with what the other ranks were doing."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from firstcause.record import private, ranked

VARIABLE = "TORCHELASTIC_ERROR_FILE"


def tell(folder: str) -> None:
    """Write the first thing that went wrong among the ranks where torchrun looks for it; nothing without torchrun."""
    path = os.environ.get(VARIABLE)
    said = first_wrong(ranked.standings(folder)) if path else ""
    if not path or not said:
        return
    message: Any = None
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        message = data.get("message") if isinstance(data, dict) else None
    except (OSError, ValueError):
        # torch writes one only where the program's main function is decorated for it.
        data = {}
    known = message if isinstance(message, dict) else {"message": message or ""}
    known = {
        "message": "\n".join(filter(None, [f"firstcause: {said}", str(known.get("message") or "")])),
        "extraInfo": known.get("extraInfo") or {"timestamp": str(int(time.time())), "py_callstack": ""},
    }
    with open(path, "w", encoding="utf-8", opener=private.opener) as file:
        json.dump({"message": known}, file)


def first_wrong(found: list[dict[str, Any]]) -> str:
    """One sentence: the rank that failed first by itself, else the first collective in which the ranks differ."""
    first = ranked.failed_first(found)
    if first is not None:
        standing, error = first
        said = error["message"].strip().partition("\n")[0][:200]
        return f"rank {standing['rank']} failed first: {error['type']}: {said}"
    parting = ranked.parted(found)
    if parting is None:
        return ""
    calls = "; ".join(
        f"rank {rank}: {ranked.shown(call)}{_at(call)}" for rank, call in sorted(parting.calls.items())
    )
    return f"after {parting.alike} collectives alike the ranks differ: {calls}"


def _at(call: dict[str, Any] | None) -> str:
    frames = (call or {}).get("frames") or []
    return f" at {os.path.basename(frames[0]['file'])}:{frames[0]['line']}" if frames else ""
