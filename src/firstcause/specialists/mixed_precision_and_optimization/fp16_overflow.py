"""fp16-overflow: an op in float16 makes inf of finite values, which the same op in float32 does not."""

from __future__ import annotations

import math

from firstcause.schema import Hypothesis
from firstcause.specialists.births import again_in_float32, settle_by_root, tell
from firstcause.specialists.consequence import doubt
from firstcause.specialists.examination import Examination, Facts

CAUSE = "fp16-overflow"
LARGEST = 65504.0


def propose(examination: Examination) -> bool:
    return examination.symptom.kind == "nan" or examination.root is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    if not matches or root is None:
        return settle_by_root(hypothesis, examination, False, "no op in float16 passes 65504")
    rival = doubt(examination)
    if rival:
        return Hypothesis(CAUSE, None, 0, "inconclusive", (), f"{tell(examination, root)}, but {rival}")
    value = again_in_float32(root, "alone")
    why = f"{root['op']} in float32 gives {value:g} there, beyond the largest float16, 65504"
    return settle_by_root(hypothesis, examination, True, why)


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
