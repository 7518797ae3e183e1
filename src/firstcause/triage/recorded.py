"""A recorded run's summary, as the text that its symptoms would have printed."""

from __future__ import annotations

import json
from typing import Any


def looks_like_run(head: bytes) -> bool:
    """Whether a file begins as a run.json does."""
    return head.lstrip()[:1] == b"{" and b'"schema"' in head[: 1 << 16] and b'"command"' in head[: 1 << 16]


def run_file(data: bytes) -> str | None:
    """The symptoms in a run.json, each below the line where it was seen; None where the bytes are none."""
    try:
        values: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    symptoms = values.get("symptoms") if isinstance(values, dict) else None
    if not isinstance(symptoms, list) or "command" not in values:
        return None
    lines = []
    for symptom in symptoms:
        if not isinstance(symptom, dict):
            continue
        site = symptom.get("site")
        prefix = f"[rank{symptom['rank']}]: " if isinstance(symptom.get("rank"), int) else ""
        if isinstance(site, dict):
            lines.append(
                f'{prefix}  File "{site.get("file")}", line {site.get("line")}, in {site.get("function") or "<module>"}'
            )
            lines.append(f"{prefix}    {site.get('text') or ''}".rstrip())
        lines.append(f"{prefix}{symptom.get('message') or symptom.get('kind')}")
    if isinstance(values.get("exit_code"), int) and values["exit_code"]:
        lines.append(f"exit code: {values['exit_code']}")
    return "\n".join(lines) + "\n"
