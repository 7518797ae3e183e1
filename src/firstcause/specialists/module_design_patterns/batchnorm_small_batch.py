"""batchnorm-small-batch: a batch norm in training mode is given one value per channel."""

from __future__ import annotations

import math

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refused_calls import (
    operand,
    passing,
    refused_call,
    settle_call,
    squeezed,
)
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "batchnorm-small-batch"


def propose(examination: Examination) -> bool:
    call = refused_call(examination)
    return call is not None and call["function"] == "batch_norm"


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    call = refused_call(examination)
    if call is None or not propose(examination):
        return nothing_refused(hypothesis, examination)
    shape = operand(call, 0).get("shape") or []
    values = math.prod([*shape[:1], *shape[2:]])
    measured = {"shape": shape, "values_per_channel": values, "grad": call.get("grad")}
    text = f"{_path(call)} normalises {shape}, {values} value{'' if values == 1 else 's'} for each channel"
    if values != 1:
        return settle_call(hypothesis, examination, False, text, measured)
    if not call.get("grad"):
        return inconclusive(
            hypothesis.cause, f"{text}, but without gradients: the module may only lack eval()"
        )
    if squeezed(examination):
        return inconclusive(hypothesis.cause, f"{text}, but a squeeze had dropped the batch axis before")
    again = [*passing(examination, "batch"), *passing(examination, "twice", operand=0)]
    if not again:
        return inconclusive(hypothesis.cause, f"{text}; that two samples pass could not be shown")
    return settle_call(
        hypothesis, examination, True, f"{text}, which has no variance; two samples pass", measured
    )


def _path(call: Facts) -> str:
    running = call.get("modules") or [{"path": "batch_norm"}]
    return str(running[-1]["path"])


def facts(examination: Examination) -> Facts:
    call = refused_call(examination) or {}
    unit = examination.failure.get("unit") or {}
    given = examination.place(call.get("site")) | examination.owner(_path(call))
    given |= {"shape": tuple(operand(call, 0).get("shape") or ()), "first_step": not examination.step}
    return given | {"loop": {"file": unit.get("file"), "line": unit.get("line")} if unit else {}}
