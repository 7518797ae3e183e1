"""Rows of scores that a mask leaves without any element, in the forms that a softmax is written in."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.specialists.births import number
from firstcause.specialists.examination import Examination, Facts

EXPONENTIALS = frozenset({"exp", "exp_", "exp2"})
MAXIMA = frozenset({"max", "amax", "logsumexp"})
# Ops behind the failing one that are looked at for the mask.
MOST_OPS = 60


@dataclass(frozen=True)
class Masked:
    """The birth at which the empty row shows, what was seen there, and the birth of the mask's infinities."""

    birth: Facts
    text: str
    mask: Facts | None


def masked_row(examination: Examination) -> Masked | None:
    """The first bad value as a row without any key left, or None where it is something else."""
    root = examination.root
    if root is None or root["op"] == "source" or root["phase"] == "backward":
        return None
    found = _softmax(root)
    birth = root
    if not found and root["op"] in ("log", "log_") and root.get("signs") == ["-"]:
        # The logarithm of a mask of 0 and 1 is a mask: what it hides is meant to be hidden.
        at = examination.births.index(root)
        later = next((b for b in examination.births if at in b["ancestors"] and b["kind"] == "nan"), None)
        found, birth = (_softmax(later), later) if later is not None else ("", root)
        if found and later is not None:
            return Masked(later, found, root)
    found = found or _difference(examination, root) or _quotient(examination, root)
    return Masked(birth, found, _mask_of(examination, birth)) if found else None


def _softmax(birth: Facts) -> str:
    """A softmax, or a fused attention, over rows of which every score is -inf."""
    masked = birth.get("masked")
    if not masked:
        return ""
    first = f", the first at {masked['first'][0]}" if masked["first"] else ""
    name = masked.get("fused") or birth["op"].lstrip("_")
    return (
        f"{masked['rows']} of {masked['of']} rows of {name} have all {masked['length']} scores at -inf{first}"
    )


def _difference(examination: Examination, birth: Facts) -> str:
    """Scores less their maximum, where the maximum of a row is -inf itself."""
    minus = float("-inf")
    inputs = birth.get("inputs") or []
    if birth["op"] not in ("sub", "sub_") or (number(birth, 0), number(birth, 1)) != (minus, minus):
        return ""
    behind = examination.op(inputs[1].get("made_by")) if len(inputs) > 1 else None
    for _ in range(4):
        if behind is None or behind["op"] in MAXIMA or not behind["inputs"]:
            break
        behind = examination.op(behind["inputs"][0].get("made_by"))
    if behind is None or behind["op"] not in MAXIMA:
        return ""
    return f"the {behind['op']} of a row is -inf, so all of its scores are, and -inf less -inf is NaN"


def _quotient(examination: Examination, birth: Facts) -> str:
    """Exponentials over their sum, where a mask has left nothing to sum."""
    if birth["op"] not in ("div", "div_") or number(birth, 1) != 0.0 or number(birth, 0) != 0.0:
        return ""
    denominator = (birth.get("inputs") or [])[1:]
    queue, seen = list(denominator), set[int]()
    ops: list[Facts] = []
    while queue and len(seen) < MOST_OPS:
        made_by = queue.pop().get("made_by")
        op = examination.op(made_by)
        if op is None or made_by is None or made_by in seen:
            continue
        seen.add(made_by)
        ops.append(op)
        queue.extend(op["inputs"])
    names = [op["op"] for op in ops]
    if not EXPONENTIALS & set(names) or "sum" not in names:
        return ""
    if any(b["number"] in seen or b.get("used_by") in seen for b in examination.births if is_mask(b)):
        return "the exponentials of a row are all masked by -inf, their sum is 0, and 0 / 0 is NaN"
    after = names[: next(i for i, n in enumerate(names) if n in EXPONENTIALS)]
    if {"mul", "masked_fill", "where", "mul_"} & set(after):
        return "the exponentials of a row are all multiplied by a mask of 0, their sum is 0, and 0 / 0 is NaN"
    return ""


def _mask_of(examination: Examination, birth: Facts) -> Facts | None:
    """Where the mask's infinities enter, the nearest place first; None where the mask is a factor of 0."""
    behind = [examination.births[i] for i in reversed(birth["ancestors"])]
    if not behind:
        # Exponentials of -inf are 0, so that nothing bad is left of the mask by the time that it is divided.
        behind = [b for b in reversed(examination.births[: examination.births.index(birth)]) if is_mask(b)]
    return next((b for b in behind if is_mask(b)), None)


def is_mask(birth: Facts) -> bool:
    """Whether a birth is of infinities that were written on purpose."""
    figures = birth.get("output") or {}
    only_minus = figures.get("-inf", 0) > 0 and not figures.get("nan") and not figures.get("inf")
    return only_minus and (bool(birth.get("constant")) or birth["op"] == "source")
