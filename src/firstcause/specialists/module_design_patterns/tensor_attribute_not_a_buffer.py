"""tensor-attribute-not-a-buffer: a module keeps a tensor as a plain attribute, which .to() and state_dict() leave behind."""

from __future__ import annotations

import ast

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_refusal
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed, nothing_refused

CAUSE = "tensor-attribute-not-a-buffer"
WORDS = ("dtype", "scalar type", "device", "Double", "Half", "BFloat16")
MOST = 60


def _left_out(found: Ran) -> Facts:
    mine: Facts = found.facts.get("attributes_left") or {}
    return mine


def _told(mine: Facts) -> str:
    low, high = mine["saved"]
    now = " to ".join(f"{x:.4g}" for x in mine["loaded"])
    return (
        f"{mine['class']}.{mine['attribute']} is a plain tensor, which state_dict() leaves out: it was {low:.4g} to {high:.4g} in"
        f" the model that was saved, and is {now} in the one that was loaded"
    )


def _settled(cause: str, examination: Examination, mine: Facts) -> Hypothesis:
    site = examination.site(mine["site"])
    text = (
        f"{_told(mine)}; for the same batch the loaded model gives values that are off by {100 * mine['differs']:.3g} % of the"
        f" largest, and with {', '.join(mine['names'])} of the saved one by {100 * mine['then']:.2g} %"
    )
    values = {k: mine[k] for k in ("differs", "then", "saved", "loaded")}
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))


def _known(examination: Examination, mine: Facts) -> Facts:
    place = _made(examination, mine["class"], mine["attribute"]) or examination.place(mine["site"])
    return place | {"class": mine["class"], "attribute": mine["attribute"], "beside": mine["beside"]}


def _made(examination: Examination, class_name: str, attribute: str) -> Facts:
    """The statement of the constructor that makes the attribute."""
    for module in examination.project.modules if examination.project is not None else ():
        for cls in module.nodes(ast.ClassDef):
            methods = [m for m in cls.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"]
            for node in ast.walk(methods[0]) if cls.name == class_name and methods else ():
                if isinstance(node, ast.Assign) and any(
                    isinstance(t, ast.Attribute) and t.attr == attribute for t in node.targets
                ):
                    return {"file": module.path, "line": node.lineno}
    return {}


_FORM = Silent(
    CAUSE, _left_out, _told, _settled, _known, "an audit in which the state of one model goes into another"
)
seen = _FORM.seen


def propose(examination: Examination) -> bool:
    refused = examination.refused
    if refused is None:
        return _FORM.propose(examination)
    return any(w in refused["error"] for w in WORDS)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.refused is None:
        if _FORM.propose(examination):
            return _FORM.settle(hypothesis, examination)
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
    if examination.refused is None:
        return _FORM.facts(examination)
    held = (left_behind(examination) or {}).get("attribute") or {}
    refused = examination.refused or {}
    return examination.place(refused.get("site")) | {
        "class": held.get("class"),
        "attribute": held.get("name"),
    }
