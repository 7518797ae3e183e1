"""fp16-overflow: an op in float16 makes inf of finite values, which the same op in float32 does not."""

from __future__ import annotations

import math

from firstcause.schema import Hypothesis
from firstcause.specialists.births import again_in_float32
from firstcause.specialists.consequence import settle_overflow
from firstcause.specialists.examination import Examination, Facts

CAUSE = "fp16-overflow"
LARGEST = 65504.0


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    why = told(root) if matches and root is not None else "no op in float16 passes 65504"
    return settle_overflow(hypothesis, examination, matches, why)


def told(root: Facts) -> str:
    value = again_in_float32(root, "alone")
    return f"{root['op']} in float32 gives {value:g} there, beyond the largest float16, 65504"


def shows(root: Facts) -> bool:
    """Whether a birth is an infinity in float16 where float32 gives a finite value beyond its range."""
    wider, output = root.get("wider") or {}, root.get("output") or {}
    alone = again_in_float32(root, "alone")
    if wider.get("half") != "float16" or output.get("dtype") != "float16" or root["phase"] == "backward":
        return False
    return alone is not None and math.isfinite(alone) and abs(alone) > LARGEST


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    return examination.place(root.get("site")) | {"op": root.get("op"), "module": root.get("module")}
