"""A denial in the words of each client; saying nothing allows."""

from __future__ import annotations

import json
from typing import NamedTuple


class Said(NamedTuple):
    """What the hook prints on its two outputs, and its exit code."""

    out: str = ""
    err: str = ""
    code: int = 0


ALLOWED = Said()


def denied(client: str, reason: str) -> Said:
    """The denial that a client understands; each form is tested against its contract."""
    if client in ("claude", "codex"):
        decision = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
        return Said(json.dumps({"hookSpecificOutput": decision}))
    if client == "gemini":
        return Said(json.dumps({"decision": "deny", "reason": reason}))
    if client == "copilot":
        return Said(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": reason}))
    if client == "hermes":
        return Said(json.dumps({"action": "block", "message": reason}))
    # Understood by most: code 2 with the reason on standard error, and nothing on standard output.
    return Said("", reason + "\n", 2)


def failed(reason: str) -> Said:
    """The hook itself failed while a case is open: the exit code that clients take for a denial."""
    return Said("", f"firstcause hook could not decide, and a case is open: {reason}\n", 2)
