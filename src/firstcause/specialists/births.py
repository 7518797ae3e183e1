"""A birth of the replay in words and figures."""

from __future__ import annotations

from typing import Any

from firstcause.schema import Hypothesis
from firstcause.specialists.divergence import diverged
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive


def settle_by_root(
    hypothesis: Hypothesis, examination: Examination, matches: bool, why: str, after_divergence: bool = False
) -> Hypothesis:
    """Confirmed when the first cause of the replay shows the mechanism, refuted when it shows another one.

    ``after_divergence`` is for causes that no divergence leads to: what was masked or ignored is so by the data.
    """
    root = examination.root
    if root is None and examination.refused and examination.replay.get("exact") and not examination.births:
        text = "every value of the failing step is finite up to the op that refused its input"
        return by_replay(hypothesis, examination, False, text, {}, None)
    if root is None:
        return inconclusive(hypothesis.cause, missing_replay(examination))
    site = examination.site(root["site"])
    asks = matches and root["op"] != "source" and not after_divergence
    runaway = diverged(examination) if asks else ""
    if runaway:
        return inconclusive(hypothesis.cause, f"{tell(examination, root)}, but {runaway}")
    seen = tell(examination, root)
    # The reason first where the cause is refuted: it is what a reader of the table looks for.
    text = seen if not why else f"{seen}: {why}" if matches else f"{why}: {seen}"
    return by_replay(hypothesis, examination, matches, text, figures(root), site)


def missing_replay(examination: Examination) -> str:
    """The evidence that a replay would have given, and why there is none."""
    return examination.not_replayed or "the replay of the failing step met no value that is not finite"


def tell(examination: Examination, birth: Facts) -> str:
    """One sentence: the op, what it made, where, at which element, from which inputs."""
    site = examination.site(birth["site"])
    where = f" at {site}" if site else ""
    if birth["op"] == "source":
        shape = birth["output"]["shape"]
        return f"{birth['kind']} is already in a tensor of shape {shape} that no op of the step made, used{where}"
    phase = f" in the backward of {birth['node']}" if birth["phase"] == "backward" else ""
    values = ", ".join(
        f"{v:g}" if isinstance(v, float) else str(v) for v in birth.get("operands_at") or () if v is not None
    )
    sign = "".join(birth.get("signs") or []) if birth["kind"] == "inf" else ""
    inputs = f" from {values}" if values else ""
    made = f"{sign}{birth['kind']}, made by {birth['op']}{phase}{where}"
    when = f"step {examination.step}" if examination.step is not None else "the call"
    return f"the first bad value of {when} is {made} at element {birth.get('element')}{inputs}"


def figures(birth: Facts) -> dict[str, Any]:
    """The numbers behind a birth."""
    kept = (
        "op",
        "kind",
        "phase",
        "node",
        "element",
        "operands_at",
        "operands",
        "output",
        "rows",
        "first_rows",
        "module",
    )
    return {k: birth[k] for k in kept if birth.get(k) is not None}


def number(birth: Facts, position: int) -> float | None:
    """The operand at ``position`` that met the first bad element, as a float."""
    values = birth.get("operands_at") or []
    value = values[position] if position < len(values) else None
    return None if value is None else float(value)


def again_in_float32(birth: Facts, which: str) -> float | None:
    """What an op in half precision gives in float32: ``alone`` on its own inputs, ``together`` with the ops before it."""
    value = (birth.get("wider") or {}).get(which)
    # The record writes an infinity as text.
    return None if value is None else float(value)


def operation(examination: Examination) -> Facts:
    """Facts for a fix at the op of the first cause: its place and the dtype of its first operand."""
    root = examination.root or {}
    operand = next((o for o in root.get("operands") or [] if isinstance(o, dict)), {})
    return examination.place(root.get("site")) | {"dtype": operand.get("dtype")}
