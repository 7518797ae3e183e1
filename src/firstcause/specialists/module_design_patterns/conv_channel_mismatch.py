"""conv-channel-mismatch: a convolution is built for another number of channels than arrives."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.provenance import first_of
from firstcause.specialists.refused_calls import (
    earlier,
    operand,
    passing,
    refused_call,
    said,
    settle_call,
)
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "conv-channel-mismatch"


def propose(examination: Examination) -> bool:
    call = refused_call(examination)
    return call is not None and str(call["function"] or "").startswith("conv") and len(call["operands"]) > 1


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    call = refused_call(examination)
    if call is None:
        return nothing_refused(hypothesis, examination)
    measured = measure(examination)
    if measured is None or measured["actual"] == measured["expected"]:
        text = f"the channels agree ({said(call)})"
        return settle_call(hypothesis, examination, False, text, measured or {})
    text = f"{measured['module']} takes {measured['expected']} channels, {measured['actual']} arrive "
    text += f"(input {measured['input_shape']}, weight {measured['weight_shape']})"
    before = earlier(examination)
    if before:
        return inconclusive(hypothesis.cause, f"{text}, but {before}")
    if measured["channels_last"]:
        text += (
            f"; with the last axis of {measured['input_shape']} at the place of the channels the call passes"
        )
    elif measured["no_channel_axis"]:
        text += "; with an axis for the channels after the batch the call passes"
    return settle_call(hypothesis, examination, True, text, measured)


def measure(examination: Examination) -> Facts | None:
    """The convolution that refused: its path, the channels of its weight and of its input, and on which axis they are."""
    call = refused_call(examination) or {}
    given, weight = operand(call, 0), operand(call, 1)
    shape, kernel = given.get("shape") or [], weight.get("shape") or []
    running = call.get("modules") or []
    settings = running[-1]["settings"] if running else {}
    if len(kernel) < 3 or len(shape) not in (len(kernel), len(kernel) - 1):
        return None
    is_transposed = "transpose" in str(call["function"])
    expected = kernel[0] if is_transposed else kernel[1] * int(settings.get("groups", 1))
    is_batched = len(shape) == len(kernel)
    return {
        "module": running[-1]["path"] if running else call["function"],
        "expected": expected,
        "actual": shape[1 if is_batched else 0],
        "input_shape": shape,
        "weight_shape": kernel,
        "channels_last": is_batched and bool(passing(examination, "channels-first", operand=0)),
        "no_channel_axis": not is_batched and bool(passing(examination, "channel-axis", operand=0)),
    }


def facts(examination: Examination) -> Facts:
    measured = measure(examination) or {}
    call = refused_call(examination) or {}
    running = call.get("modules") or [{"settings": {}}]
    given = examination.place(call.get("site")) | examination.owner(measured.get("module"))
    channels = measured.get("actual")
    birth = first_of(examination, operand(call, 0), lambda x: _has(x, channels))
    given |= {"in_channels": measured.get("expected"), "actual_channels": channels, "birth": birth}
    given |= {"out_channels": running[-1]["settings"].get("out_channels"), "kind": running[-1].get("class")}
    given |= {k: measured.get(k) for k in ("channels_last", "no_channel_axis", "input_shape")}
    frames = call.get("stack") or []
    given |= {
        "caller": _caller(frames),
        "joined": birth.get("function") in ("cat", "concat", "concatenate", "hstack"),
    }
    return given | {"later_step": bool(examination.step), "weighted": _is_computed(examination, call)}


def _caller(frames: list[Facts]) -> Facts:
    """The program's frame that called the one that raised."""
    return frames[1] if len(frames) > 1 else {}


def _has(given: Facts, channels: int | None) -> bool:
    shape = given.get("shape") or []
    return (
        "parameter" not in given
        and len(shape) > 1
        and channels in (shape[1], shape[-3] if len(shape) > 2 else None)
    )


def _is_computed(examination: Examination, call: Facts) -> bool:
    """Whether a layer stands between the step's data and the convolution."""
    return any(c.get("module") for c in (call.get("calls") or {}).values())
