"""device-mismatch: the operands of one call lie on different devices."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.provenance import first_of, tell
from firstcause.specialists.refused_calls import (
    operand,
    passing,
    refused_call,
    said,
    settle_call,
    trials,
)
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "device-mismatch"


def propose(examination: Examination) -> bool:
    call = refused_call(examination)
    return call is not None and (len(_devices(call)) > 1 or bool(trials(examination, "device")))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    call = refused_call(examination)
    if call is None:
        return nothing_refused(hypothesis, examination)
    devices = _devices(call)
    error = said(call)
    if "device" not in error and "meta" not in error:
        return settle_call(
            hypothesis, examination, False, f"it is refused for another reason ({error})", devices
        )
    stray = stray_operand(examination)
    if stray is None:
        return inconclusive(
            hypothesis.cause,
            f"the operands lie on {', '.join(devices.values())}; which is meant is not shown",
        )
    given = operand(call, stray)
    birth = first_of(examination, given, lambda x: x.get("device") == given["device"])
    others = ", ".join(sorted({d for k, d in devices.items() if d != given["device"]}))
    text = (
        f"operand {stray} of shape {given['shape']} lies on {given['device']}, the others on {others or 'cpu'}; "
        f"it is {tell(examination, birth)}"
    )
    if passing(examination, "device"):
        text += "; with a tensor of its shape in memory the call passes"
    return settle_call(hypothesis, examination, True, text, devices)


def _devices(call: Facts) -> dict[str, str]:
    # A number of no dimension may lie on the CPU beside a tensor on a card.
    return {
        str(k): o["device"]
        for k, o in enumerate(call["operands"])
        if o.get("device") and o.get("shape") != []
    }


def stray_operand(examination: Examination) -> int | None:
    """The operand on the other device: one without memory, else the only one that is apart from all the rest."""
    call = refused_call(examination) or {}
    tried = passing(examination, "device")
    if tried:
        return int(tried[0]["operands"][0])
    devices = _devices(call)
    alone = [k for k, d in devices.items() if list(devices.values()).count(d) == 1]
    return int(alone[0]) if len(alone) == 1 and len(devices) > 2 else None


def facts(examination: Examination) -> Facts:
    call = refused_call(examination) or {}
    given = operand(call, stray_operand(examination) or 0)
    birth = first_of(examination, given, lambda x: x.get("device") == given["device"])
    path = str(birth.get("path") or "").rpartition(".")[0]
    owners = examination.trace.get("owners") or {}
    # The program's classes around a parameter, but for the outermost, and the class that is running.
    around = [owners[p] for p in owners if p.count(".") and (path == p or path.startswith(p + "."))]
    running = [m["class"] for m in (call.get("modules") or [])[-1:] if m["path"] == path]
    classes = {"classes": around + running}
    return examination.place(call.get("site")) | {"birth": birth, "device": given.get("device")} | classes
