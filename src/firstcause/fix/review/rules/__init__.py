"""The rules of the review, one module each: ``find(changes, setting)`` says what speaks against a patch."""

from firstcause.fix.review.rules import (
    another_cause,
    clamped_ids,
    deleted_check,
    displaced,
    emptied_cache,
    nan_hidden,
    nothing_to_mend,
    raised_tolerance,
    retained_graph,
    shotgun,
    smaller_batch,
    strict_off,
    struck_out,
    swallowed_error,
)

RULES = (
    swallowed_error,
    nan_hidden,
    clamped_ids,
    retained_graph,
    strict_off,
    emptied_cache,
    smaller_batch,
    raised_tolerance,
    deleted_check,
    nothing_to_mend,
    shotgun,
    displaced,
    another_cause,
    struck_out,
)

__all__ = ["RULES"]
