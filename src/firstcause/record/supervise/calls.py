"""What a failing call of a model says of the run: its symptom, or that the program took care of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstcause.record.folder import relative
from firstcause.schema import Site, Symptom

Facts = dict[str, Any]


def is_symptom(facts: Facts, failed: bool, unhandled: list[list[Facts]]) -> bool:
    """Whether a failing call is a failure of the run.

    It is where the exception ended the program or its thread, where a clause stopped it that takes whatever comes,
    and where an output was not finite. What the program foresaw was never written down as a failing call.
    """
    if facts["kind"] == "nan" or facts.get("handled") or facts["call"]["thread"] != "MainThread":
        return True
    mine = facts["exception"][0]
    raised = [e for chain in unhandled for e in chain]
    return failed and any((e["type"], e["message"]) == (mine["type"], mine["message"]) for e in raised)


def frames(facts: Facts) -> list[Facts]:
    """The frames of the exception, or the line of the call whose output was bad."""
    call = facts["call"]
    if facts["kind"] == "exception":
        return list(facts["exception"][0]["frames"])
    return [
        {
            "file": call["file"],
            "line": call["line"],
            "function": call["function"],
            "text": call.get("text", ""),
        }
    ]


def symptom(facts: Facts, events: Sequence[Facts], site: Site | None, cwd: str) -> Symptom:
    """The symptom of a failing call, with how often it was seen, as the ``events`` of the journals tell."""
    call = facts["call"]
    where = f"call {call['number']} of {call['model']} at {_place(call['file'], call['line'], cwd)}"
    often = _often(facts, events)
    if facts["kind"] == "nan":
        bad = [f"{o['nan']} NaN and {o['inf']} infinite of {o['total']} values" for o in facts["outputs"]]
        return Symptom("nan", f"the output is not finite in {where}{often}: {'; '.join(bad)}", site)
    error, stop = facts["exception"][0], facts.get("handled")
    after = f"; {_place(stop['by'], stop['line'], cwd)} caught it, and the program went on" if stop else ""
    return Symptom("exception", f"{told(error)} (in {where}{often}{after})", site)


def told(error: Facts) -> str:
    """An exception by its type and the first line of what it says."""
    return f"{error['type']}: {str(error['message']).strip().partition(chr(10))[0]}"


def _often(facts: Facts, events: Sequence[Facts]) -> str:
    """How many of the calls failed like this, where the process lived to tell it."""
    key = facts.get("key")
    for event in (e for e in events if e.get("event") == "calls"):
        count = next((n for k, n in event["failed"] if k == key), 0)
        if count:
            return f", {count} of {event['made']} calls"
    return ""


def _place(path: str, line: int, cwd: str) -> str:
    return f"{relative(path, cwd)}:{line}"
