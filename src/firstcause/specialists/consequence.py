"""What has to be ruled out before an overflow counts as a first cause: a training that ran away, a row far outside."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import settle_by_root, tell
from firstcause.specialists.examination import Examination
from firstcause.specialists.outliers import suspects, told, without_them
from firstcause.specialists.trajectories import CLIPPED, SLOWER, SLOWEST, trajectories, worth_asking
from firstcause.specialists.verdicts import inconclusive


def settle_overflow(hypothesis: Hypothesis, examination: Examination, matches: bool, why: str) -> Hypothesis:
    """As the first cause of the replay tells; inconclusive where it matches and a rival is not ruled out."""
    rival = _ran_away(examination) or _outlier(examination) if matches else ""
    if rival and examination.root is not None:
        return inconclusive(hypothesis.cause, f"{tell(examination, examination.root)}, but {rival}")
    return settle_by_root(hypothesis, examination, matches, why)


def _ran_away(examination: Examination) -> str:
    if not worth_asking(examination):
        return ""
    found = trajectories(examination)
    if isinstance(found, str):
        return (
            f"the loss or the gradient norm had grown far beyond the run's start before, and it takes {found}"
        )
    kept = next((arm for arm in (SLOWER, SLOWEST, CLIPPED) if found.kept(arm)), None)
    return (
        f"the training had run away before, and it does not with this: {found.describe(kept)}" if kept else ""
    )


def _outlier(examination: Examination) -> str:
    found = suspects(examination)
    arms = without_them(examination) if found is not None else ""
    if found is None or not isinstance(arms, str):
        return ""
    return f"{told(found)}; whether the step is finite without that is not known: {arms}"
