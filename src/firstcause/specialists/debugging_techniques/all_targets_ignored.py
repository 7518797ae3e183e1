"""all-targets-ignored: a loss is averaged over no target at all."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import settle_by_root, tell
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.ignored_targets import all_ignored
from firstcause.specialists.verdicts import inconclusive

CAUSE = "all-targets-ignored"
# Averages of nothing are NaN; a sum of nothing is 0.
MEANS = frozenset(
    {"mean", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nanmean"}
)
SELECTIONS = frozenset({"masked_select", "nonzero", "index", "index_select", "nonzero_numpy"})


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    text = told(examination, root) if root is not None else ""
    if root is not None and not text and root.get("empty"):
        missing = f"{tell(examination, root)}: it averages over a tensor without elements, and no mask selected them"
        return inconclusive(CAUSE, missing)
    why = text or "no loss is averaged over nothing"
    return settle_by_root(hypothesis, examination, bool(text), why, after_divergence=True)


def told(examination: Examination, root: Facts) -> str:
    """What was averaged over nothing, with its numbers; empty where the first bad value is something else."""
    if root["kind"] != "nan" or root["phase"] == "backward":
        return ""
    targets = all_ignored(examination, root)
    if targets is not None:
        return (
            f"all {targets['count']} targets are {targets['ignore_index']}, the label that does not count, "
            "so the mean is 0 / 0"
        )
    if root.get("targets") or root["op"] not in MEANS or not root.get("empty"):
        return ""
    selection = selecting(examination, root)
    if selection is None:
        return ""
    where = examination.site(selection["site"])
    return f"{selection['op']} at {where} selects 0 elements, and the mean over none is NaN"


def selecting(examination: Examination, root: Facts) -> Facts | None:
    """The op behind an empty tensor that selected its elements by a mask."""
    for op in examination.behind(root.get("inputs") or [], 40):
        is_masked = op["op"] != "index" or any(i.get("dtype") == "bool" for i in op["inputs"][1:])
        by_nonzero = any(
            (examination.op(i.get("made_by")) or {}).get("op") == "nonzero" for i in op["inputs"][1:]
        )
        if op["op"] in SELECTIONS and 0 in (op.get("shape") or []) and (is_masked or by_nonzero):
            return op
    return None


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    targets = all_ignored(examination, root) or {} if root else {}
    return examination.place(root.get("site")) | {
        "ignore_index": targets.get("ignore_index"),
        "count": targets.get("count"),
    }
