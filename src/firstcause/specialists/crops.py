"""Samples that are too small for what is asked of them, told from samples that differ in shape by nature."""

from __future__ import annotations

from firstcause.specialists import loading
from firstcause.specialists.examination import Examination, Facts

# A slice from the start only shortens what is longer; that a few samples stay shorter is still meant for none of them.
FEW = 0.05


def is_crop(examination: Examination) -> bool:
    """Whether a batch does not go together because a cut-out of a fixed size reached behind the end of a sample."""
    return too_short(examination) is not None


def too_short(examination: Examination) -> Facts | None:
    """The first failing sample that is too small for its transform, with what asked for more; else None."""
    walk = loading.walk(examination)
    raised = walk.get("raised") or []
    for one in raised:
        why = loading.explained(examination, one["index"])
        short, smaller = why.get("short"), why.get("smaller")
        if short or smaller:
            found: Facts = one | {
                "why": why,
                "short": short,
                "smaller": smaller or [],
                "error": one["raised"],
            }
            return found
    for one in () if raised else walk.get("collate") or ():
        for index, _ in one["samples"]:
            short = loading.explained(examination, index).get("short")
            if short and short["kind"] == "slice" and (_from_inside(short) or _few(walk)):
                why = loading.explained(examination, index)
                return {
                    "index": index,
                    "who": [],
                    "why": why,
                    "short": short,
                    "smaller": [],
                    "error": one["collate"],
                }
    return None


def _from_inside(short: Facts) -> bool:
    """Whether the slice has a start: it is a cut-out then, and no shortening."""
    return not bool(short["from_start"])


def _few(walk: Facts) -> bool:
    counts = sorted((n for _, n, _ in walk["forms"]), reverse=True)
    return bool(sum(counts[1:]) <= FEW * sum(counts))
