"""tensor-attribute-not-a-buffer: a module keeps a tensor as a plain attribute, which .to() and .double() leave behind."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_refusal
from firstcause.specialists.verdicts import nothing_refused

CAUSE = "tensor-attribute-not-a-buffer"
WORDS = ("dtype", "scalar type", "device", "Double", "Half", "BFloat16")
MOST = 60


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and any(w in refused["error"] for w in WORDS)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.refused is None:
        return nothing_refused(hypothesis, examination)
    found = left_behind(examination)
    if found is None:
        text = "no operand comes from a plain tensor attribute of a module that differs from its parameters"
        return settle_refusal(hypothesis, examination, False, text, {})
    held = found["attribute"]
    dtype, device = held["parameters"]
    text = f"{held['path']}.{held['name']} is {found['dtype']} on {found['device']} and neither parameter nor buffer, "
    text += f"while the module's parameters are {dtype} on {device}"
    values = {"dtype": found["dtype"], "device": found["device"], "parameters": f"{dtype} {device}"}
    return settle_refusal(hypothesis, examination, True, text, values)


def left_behind(examination: Examination) -> Facts | None:
    """The plain attribute behind an operand of the refused op, with another dtype or device than the parameters."""
    refused = examination.refused or {}
    operands = [o for o in refused["operands"] if isinstance(o, dict)]
    floating = {o["dtype"] for o in operands if _is_floating(o["dtype"])}
    devices = {o.get("device") for o in operands}
    for operand in operands:
        queue, seen = [operand], set[int]()
        while queue and len(seen) < MOST:
            given = queue.pop(0)
            held = given.get("attribute")
            if held and held["parameters"] and _differs(given, held["parameters"], floating, devices):
                return given
            op = examination.op(given.get("made_by"))
            if op is None or given["made_by"] in seen or op.get("dtype") != operand["dtype"]:
                continue
            seen.add(given["made_by"])
            queue += op["inputs"]
    return None


def _is_floating(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def _differs(given: Facts, parameters: list[str], floating: set[str], devices: set[str | None]) -> bool:
    """Whether it is not what the parameters are, and the refused op met both kinds."""
    dtype, device = parameters
    other_dtype = (
        _is_floating(given["dtype"]) and given["dtype"] != dtype and {given["dtype"], dtype} <= floating
    )
    other_device = given["device"] != device and {given["device"], device} <= devices
    return other_dtype or other_device


def facts(examination: Examination) -> Facts:
    held = (left_behind(examination) or {}).get("attribute") or {}
    refused = examination.refused or {}
    return examination.place(refused.get("site")) | {
        "class": held.get("class"),
        "attribute": held.get("name"),
    }
