"""Settling a hypothesis about an op that refused its input."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts


def settle_refusal(
    hypothesis: Hypothesis, examination: Examination, matches: bool, text: str, values: Facts
) -> Hypothesis:
    """Confirmed or refuted by what the replay measured at the op that raised."""
    refused = examination.refused or {}
    site = examination.site(refused.get("site"))
    where = f" at {site}" if site else ""
    evidence = examination.replayed(matches, f"{refused.get('op')}{where}: {text}", values, site)
    return Hypothesis(
        hypothesis.cause, site if matches else None, 0, "confirmed" if matches else "refuted", (evidence,)
    )
