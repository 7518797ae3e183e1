"""flatten-linear-mismatch: the in_features of a Linear are not what arrives."""

from __future__ import annotations

import math

from firstcause.schema import Hypothesis
from firstcause.specialists.broadcasts import behind
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_refusal
from firstcause.specialists.refused_calls import earlier, refused_call
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "flatten-linear-mismatch"
RESHAPES = ("view", "_unsafe_view", "reshape", "_reshape_alias")
# What gives its input on in its shape.
PASSING = ("dropout", "native_dropout", "bernoulli_", "relu", "mul", "clone", "detach", "alias")
PRODUCTS = frozenset({"addmm", "mm", "linear", "matmul", "bmm", "baddbmm", "mv", "addmv"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in PRODUCTS and "dtype" not in refused["error"]


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.refused is None:
        return nothing_refused(hypothesis, examination)
    measured = measure(examination)
    if measured is None:
        return settle_refusal(
            hypothesis, examination, False, "the product is not that of a Linear and its input", {}
        )
    arriving = f"{measured['features']} arrive (input {measured['input_shape']})"
    text = f"{measured['module']} takes {measured['in_features']} features, {arriving}"
    if measured["before_flatten"]:
        text += f", flattened from {measured['before_flatten']}"
    if measured["features"] == measured["in_features"]:
        return settle_refusal(hypothesis, examination, False, text, measured)
    given = (examination.refused or {})["modules"][-1]["inputs"][0]
    before = shape_lost(examination, given)
    if before:
        return inconclusive(CAUSE, f"{text}, but {before}")
    grouped = regrouped(examination, given, measured["in_features"])
    if grouped is not None:
        # Whole samples are as wide as the layer takes: what is wrong is in how many rows they were put.
        was, rows = grouped["inputs"][0]["shape"], grouped["shape"]
        where = f"{grouped['op']} at {examination.site(grouped['site'])}"
        text += f"; {where} had put {was[0]} samples of {measured['in_features']} into {rows[0]} rows"
        return settle_refusal(
            hypothesis, examination, True, text, measured | {"rows": rows[0]}, grouped["site"]
        )
    steps = examination.steps_of(measured["module"], _writes(examination, measured["module"]))
    if steps:
        # Changed to what arrives here, the layer would refuse what it was trained on.
        took = f"it took {measured['in_features']} in the {steps} steps before"
        return inconclusive(CAUSE, f"{text}, but {took}: what is given to it here is made otherwise")
    if measured["in_features"] in measured["input_shape"][:-1]:
        # The features are there, on another axis: the order of the axes is wrong, not in_features.
        return inconclusive(
            CAUSE, f"{text}: the expected size stands on another axis, so the axes may be swapped"
        )
    return settle_refusal(hypothesis, examination, True, text, measured)


def shape_lost(examination: Examination, given: Facts) -> str:
    """What happened to the shape before: by trial where calls could be made again, else by what it looks like."""
    if (refused_call(examination) or {}).get("trials"):
        return earlier(examination)
    broadcast = behind(examination, given)
    if broadcast is not None:
        op, shapes = broadcast
        site = examination.site(op["site"])
        return f"{op['op']} at {site} had made {op['shape']} of {shapes[0]} and {shapes[1]} before"
    return "a squeeze had dropped an axis of size 1 before" if lost_axis(examination, given) else ""


def measure(examination: Examination) -> Facts | None:
    """The Linear that refused: its path, in_features, what arrived, and the shape before it was flattened."""
    refused = examination.refused or {}
    running = refused.get("modules") or []
    if not running or "in_features" not in running[-1]["settings"] or not running[-1].get("inputs"):
        return None
    given = running[-1]["inputs"][0]
    if not given["shape"]:
        return None
    return {
        "module": running[-1]["path"],
        "in_features": running[-1]["settings"]["in_features"],
        "features": given["shape"][-1],
        "input_shape": given["shape"],
        "before_flatten": before_flatten(examination, given),
    }


def lost_axis(examination: Examination, given: Facts) -> bool:
    """Whether a squeeze behind the input dropped a first axis of size 1, the batch of one sample."""
    for _ in range(12):
        op = examination.op(given.get("made_by"))
        if op is None or not op["inputs"]:
            return False
        given = op["inputs"][0]
        if op["op"] == "squeeze" and given["shape"][:1] == [1]:
            return True
    return False


def before_flatten(examination: Examination, given: Facts) -> list[int] | None:
    """The shape of the tensor that a view, reshape or flatten made into this one."""
    for _ in range(6):
        op = examination.op(given.get("made_by"))
        if op is None or not op["inputs"]:
            return None
        given = op["inputs"][0]
        if op["op"] in (*RESHAPES, "flatten"):
            return list(given["shape"]) if len(given["shape"]) > 2 else None
        if op["op"] not in PASSING:
            return None
    return None


def _writes(examination: Examination, module: str) -> int:
    """How often the layer's weight has been written, as the refused call was given it."""
    given = (refused_call(examination) or {}).get("operands") or []
    return max(
        (o.get("writes", 0) for o in given if str(o.get("parameter")) == f"{module}.weight"), default=0
    )


def regrouped(examination: Examination, given: Facts, in_features: int) -> Facts | None:
    """The view or reshape behind the input that put its samples, each as wide as the layer takes, into other rows."""
    for _ in range(6):
        op = examination.op(given.get("made_by"))
        if op is None or not op["inputs"]:
            return None
        given = op["inputs"][0]
        if op["op"] in RESHAPES:
            was, now = given["shape"], op["shape"]
            # Where the last axis stays as it is, each of its rows is meant: tokens, and not samples.
            other = len(was) > 1 and len(now) == 2 and was[0] != now[0] and was[-1] != now[-1]
            return op if other and math.prod(was[1:]) == in_features else None
        if op["op"] not in PASSING:
            return None
    return None


def facts(examination: Examination) -> Facts:
    measured = measure(examination) or {}
    refused = examination.refused or {}
    settings = (refused.get("modules") or [{"settings": {}}])[-1]["settings"]
    shape = measured.get("before_flatten")
    given = examination.place(refused.get("site")) | examination.owner(measured.get("module"))
    given |= {"in_features": measured.get("in_features"), "actual_features": measured.get("features")}
    given |= {"out_features": settings["out_features"]} if "out_features" in settings else {}
    running = refused.get("modules") or []
    grouped = regrouped(examination, running[-1]["inputs"][0], measured["in_features"]) if measured else None
    if grouped is not None:
        return examination.place(grouped["site"]) | {
            "rows": grouped["shape"][0],
            "in_features": measured["in_features"],
        }
    # The first axis is the batch, as the shape of one sample is asked for.
    return given | ({"shape": tuple(shape[1:])} if shape else {})
