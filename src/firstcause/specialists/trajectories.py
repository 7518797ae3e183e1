"""A training that runs away, run again from its start with one change an arm: which change keeps it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.record.journal import finite
from firstcause.schema import Evidence
from firstcause.specialists.divergence import dead_from, diverged, onset, smoothed
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end

SLOWER = Arm("learning rate / 10", "learning_rate", {"factor": 0.1})
SLOWEST = Arm("learning rate / 100", "learning_rate", {"factor": 0.01})
STILL = Arm("learning rate 0", "learning_rate", {"factor": 0.0})
CLIPPED = Arm("gradients clipped at norm 1", "clip_gradients", {"norm": 1.0})
DIVIDED = Arm("gradients divided by the backward calls of a step", "divide_gradients")
ARMS = (CONTROL, SLOWER, SLOWEST, STILL, CLIPPED, DIVIDED)
# Steps after the onset that an arm must stay quiet for.
BEYOND = 40
MOST_STEPS = 300
# A kept arm never smoothed above three times its first loss, and ends below 1.2 times it; where batches differ by more
# than that, times what the first weights make of the same batches.
KEPT_PEAK, KEPT_END, FALLEN = 3.0, 1.2, 0.95
# A loss that came down to this share of its peak has come back.
RECOVERED = 0.1
# A run that came to this share of its first loss, and stayed for so many steps, had a rate that trains: fewer are the first
# swing of updates that overshoot, whose loss falls on the way to where it rises.
TRAINED, LEAST_TRAINED = 0.8, 30
LEAST_CALM = 10
# A first update of this share of the weights, or weights that grew so many times, is an overshoot.
LARGE_UPDATE, GROWN = 0.1, 2.0
# A first update of so many times the weights leaves nothing of them; one of this share is what trainings begin with.
REPLACED, USUAL_UPDATE = 10.0, 0.01
REPRODUCED = 0.05
# Workers draw with generators of their own, and a sealed process has none: its batches are cropped and turned otherwise.
REDRAWN = 0.5
# An op that adds or multiplies leaves the range of float32 only where its inputs are this large.
EARLY, LARGE = 20, 1e12
LINEAR = frozenset(
    "add addmm baddbmm bmm conv2d convolution dot linear matmul mean mm mse_loss mul mv pow square sub sum".split()  # noqa: SIM905
)
# The gradient of the step before the losses leave: this many times the median before it is a burst of its own.
BURST = 30.0


@dataclass(frozen=True)
class Trajectories:
    """The arms beside each other, all from the step ``after`` on, and the step at which the run left its start."""

    arms: dict[str, Ran]
    onset: int
    after: int
    # The rate whose first update is a usual one, where a hundredth of the recorded one overshoots as well.
    usual: Arm | None = None

    @property
    def control(self) -> Ran:
        return self.arms[CONTROL.name]

    @property
    def start(self) -> float:
        return abs(self.control.losses[0]) if self.control.losses else math.nan

    def kept(self, arm: Arm) -> bool:
        """Whether the training under this change stays near its start and ends no worse."""
        ran = self.arms[arm.name]
        losses = ran.losses
        if not ran.finite or len(losses) < min(5, len(self.control.losses)) or is_dead(ran):
            return False
        peak, last = self._untrained
        return max(smoothed(losses)) <= KEPT_PEAK * peak and abs(end(ran)) <= KEPT_END * last

    def trains(self, arm: Arm) -> bool:
        """Whether it is kept and comes down as well: a rate of nearly 0 keeps everything near its start."""
        return self.kept(arm) and end(self.arms[arm.name]) <= FALLEN * self._untrained[1]

    def recovers(self, arm: Arm) -> bool:
        """Whether the training under this change comes back from where the run was lost, which a smaller rate does not.

        Where inputs become longer, or harder, the loss jumps by itself: what matters is that the training goes on.
        """
        ran = self.arms[arm.name]
        losses = ran.losses
        lost = not self.control.finite and not self.kept(SLOWER) and not self.kept(SLOWEST)
        if not lost or not ran.finite or is_dead(ran) or len(losses) < len(self.control.losses) + LEAST_CALM:
            return False
        peak = max(smoothed(losses))
        late = smoothed(losses)[-LEAST_CALM:]
        return max(late) <= RECOVERED * peak and abs(end(ran)) <= KEPT_END * self._untrained[1]

    @property
    def _untrained(self) -> tuple[float, float]:
        """The largest and the last loss, smoothed, of the same batches at the first weights: at least the first loss."""
        still = self.arms.get(STILL.name)
        if still is None or not still.finite or len(still.losses) < LEAST_CALM:
            return self.start, self.start
        return max(self.start, *smoothed(still.losses)), max(self.start, abs(end(still)))

    @property
    def trained_before(self) -> float | None:
        """The lowest loss before the run left its start, where the run as it was had trained until then."""
        losses = self.control.losses
        if is_dead(self.control):
            return None
        left = onset(losses)
        calm = smoothed(losses[: len(losses) if left is None else left])
        if not calm:
            return None
        lowest = calm.index(min(calm))
        # What it had come down by may be lost long before it runs away.
        lost = next((i for i, v in enumerate(calm) if i > lowest and v > self.start), len(calm))
        return min(calm) if lost >= LEAST_TRAINED and min(calm) <= TRAINED * self.start else None

    @property
    def overshoots(self) -> bool:
        """Whether the updates are large beside the weights, or the weights ran away with them."""
        weights = [w for w in self.control.column("weights") if w]
        return first_update(self.control) >= LARGE_UPDATE or (
            len(weights) > 1 and weights[-1] >= GROWN * weights[0]
        )

    @property
    def reproduced(self) -> bool:
        """Whether the arm without a change runs away as the run did; what came down to 0 and is not dead has learnt."""
        if dead_from(self.control.losses, self.control.column("grad_norm")) is not None:
            return is_dead(self.control)
        return bool(self.control.losses) and not self.kept(CONTROL)

    @property
    def calls(self) -> int:
        """Backward calls of one step, from one line of the program; 1 where there are several lines."""
        counts = [int(r.get("calls") or 1) for r in self.control.rows]
        return int(statistics.median(counts)) if counts and self.control.rows[0].get("lines", 1) == 1 else 1

    @property
    def burst(self) -> tuple[float, float] | None:
        """The gradient norm just before the losses left, and the median before it, where it is a burst."""
        norms, losses = self.control.column("grad_norm"), self.control.losses
        left = onset(losses)
        at = len(losses) if left is None else left
        calm = [i for i in range(min(at + 1, len(norms))) if i < len(losses) and losses[i] <= 3 * self.start]
        if len(calm) < 4:
            return None
        last, before = norms[calm[-1]], statistics.median(norms[i] for i in calm[:-1])
        return (last, before) if before and last >= BURST * before else None

    def describe(self, arm: Arm) -> str:
        """What an arm did, with its numbers."""
        ran = self.arms[arm.name]
        if ran.ended == "lost":
            return f"{arm.name}: not run ({ran.why})"
        losses = ran.losses
        if not losses:
            return f"{arm.name}: no loss was seen"
        if not ran.finite:
            return (
                f"{arm.name}: not finite at its step {len(ran.rows) - 1}, largest loss {_largest(losses):.3g}"
            )
        return (
            f"{arm.name}: largest loss {_largest(losses):.3g}, last {end(ran):.3g} after {len(losses)} steps"
        )

    def evidence(self, supports: bool, arms: Sequence[Arm], text: str) -> Evidence:
        """Rivals beside each other, with the figures of each."""
        values: dict[str, Any] = {
            a.name: {"losses": [round(x, 5) for x in self.arms[a.name].losses[:: self._stride]]} for a in arms
        }
        said = "; ".join(self.describe(a) for a in arms)
        return Evidence("counterfactual", supports, f"{text}. {said}", values | {"from_step": self.after})

    @property
    def _stride(self) -> int:
        return max(1, len(self.control.losses) // 40)


def first_update(ran: Ran) -> float:
    """The share of the weights' norm that the first update has; 0 where it was not measured."""
    first = ran.rows[0] if ran.rows else {}
    return (first.get("update") or 0.0) / first["weights"] if first.get("weights") else 0.0


def is_dead(ran: Ran) -> bool:
    """Whether its first update replaced the weights, and it was thrown far up before its loss and gradients became 0.

    Layers that lie upon each other are no layers any more then; a single one may be of any size, and have learnt.
    """
    is_replaced = first_update(ran) >= REPLACED and ran.rows[0].get("matrices", 0) > 1
    return is_replaced and dead_from(ran.losses, ran.column("grad_norm")) is not None


def worth_asking(examination: Examination) -> bool:
    """Whether the run left its own start: measured from the record, before anything is run again."""
    if examination.symptom.kind == "divergence":
        return True
    if examination.symptom.kind != "nan":
        return False
    return bool(diverged(examination)) or _ran_away(examination) or _overflowed(examination)


def _ran_away(examination: Examination) -> bool:
    """Few steps, and a loss or gradient norm a hundred times that of the first one when it failed."""
    losses, norms = [abs(x) for x in finite(examination.rows, "loss")], finite(examination.rows, "grad_norm")
    return any(len(x) > 1 and x[0] > 0 and max(x[1:]) >= 100 * x[0] for x in (losses, norms))


def _overflowed(examination: Examination) -> bool:
    """Early, and by a sum or product that left the range of float32: only weights that ran away do that."""
    root = examination.root
    if root is None or not examination.rows or examination.rows[-1]["step"] >= EARLY:
        return False
    largest = [
        abs(o.get(k) or 0.0)
        for o in root.get("operands") or []
        if isinstance(o, dict)
        for k in ("min", "max")
    ]
    return (
        root["kind"] == "inf"
        and root["op"] in LINEAR
        and (root.get("output") or {}).get("dtype") in ("float32", "float64")
        and max(largest, default=0.0) >= LARGE
    )


def trajectories(examination: Examination) -> Trajectories | str:
    """The arms of this failure, run once; or why there are none."""
    return examination.once("trajectories", lambda: _run(examination))


def _run(examination: Examination) -> Trajectories | str:
    if examination.lab is None:
        return "the same training from its start with one thing changed: diagnose with --yes"
    at = _onset(examination.rows, examination.symptom.step)
    after = 0 if at + BEYOND <= MOST_STEPS else at - 20
    steps = at - after + BEYOND
    arms = examination.lab.from_start(ARMS, steps, after)
    control = arms[CONTROL.name]
    if control.ended == "lost" or not control.losses:
        return (
            f"the training could not be run again from its start: {control.why or 'no loss was seen in it'}"
        )
    usual = _usual(control) if after == 0 else None
    if usual is not None:
        arms = arms | examination.lab.from_start([usual], steps, after)
    found = Trajectories(arms, at, after, usual)
    if after == 0 and not _same_start(examination.rows, control):
        return "the training does not repeat itself: its first losses differ from one run to the next"
    if not found.reproduced:
        return f"the training did not run away again when nothing was changed ({found.describe(CONTROL)})"
    return found


def _usual(control: Ran) -> Arm | None:
    share = first_update(control)
    if share * SLOWEST.settings["factor"] < LARGE_UPDATE:
        return None
    # One figure, as a person would write it.
    factor = float(f"{USUAL_UPDATE / share:.0e}")
    return Arm(f"learning rate times {factor:g}", "learning_rate", {"factor": factor})


def _onset(rows: list[Facts], failing: int | None) -> int:
    found = onset(finite(rows, "loss"))
    if found is not None:
        return found
    return failing if failing is not None else len(rows)


def _same_start(rows: list[Facts], control: Ran) -> bool:
    # Row by row: of two optimizers that step after one backward, the second has no loss of its own in an arm.
    both = zip(rows[:3], control.rows[:3], strict=False)
    pairs = [(row["loss"], again["last"]) for row, again in both if again.get("last") is not None]
    most = REDRAWN if control.rows[0].get("workers") else REPRODUCED
    return all(abs(a - b) <= most * max(abs(a), abs(b), 1e-12) for a, b in pairs if math.isfinite(a + b))


def _largest(losses: Sequence[float]) -> float:
    return max((abs(x) for x in losses if math.isfinite(x)), default=math.nan)
