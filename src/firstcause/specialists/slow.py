"""The form of a cause of slowness: what it is made from, and the one change that must make the same steps faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

SLOW = "pace"
APART = "(in both with the random numbers put back that it draws)"


@dataclass(frozen=True)
class Change:
    """One change: the statements that are made otherwise, the arms that make it, and how it is said.

    ``drawing`` tells that the statements may have drawn random numbers, which a program that runs them less often draws not.
    """

    words: str
    statements: Sequence[Facts] = ()
    arms: Sequence[Arm] = speeds.CHANGED
    drawing: bool = False


@dataclass(frozen=True)
class Slow:
    """What a cause's module needs as ``seen``, ``propose``, ``settle`` and ``facts``.

    ``mine`` takes the cause's own facts out of the measured steps, empty where there are none; ``told`` says them; ``site`` is
    the line; ``changes`` are what is tried, the first that holds counts; ``known`` hands the facts to the fix.
    """

    cause: str
    mine: Callable[[Examination], Facts]
    told: Callable[[Examination, Facts], str]
    site: Callable[[Examination, Facts], Site | None]
    changes: Callable[[Examination, Facts], Sequence[Change]]
    known: Callable[[Examination, Facts], Facts]

    def seen(self, found: Ran, examination: Examination) -> str | None:
        mine = self.own(examination)
        return self.told(examination, mine) if mine else None

    def propose(self, examination: Examination) -> bool:
        # Slowness is looked at last, where nothing else was established: see diagnose/pipeline.
        return SLOW in examination.memory and bool(self.own(examination))

    def settle(self, hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
        mine = self.own(examination)
        if not mine:
            return inconclusive(self.cause, "steps of the program whose time goes where this cause is seen")
        kept: Hypothesis = examination.once(f"{self.cause} settled", lambda: self._settled(examination, mine))
        return kept

    def _settled(self, examination: Examination, mine: Facts) -> Hypothesis:
        said = self.told(examination, mine)
        missing = f"{said}; a change that makes the same steps at least {speeds.FASTER} times as fast"
        for number, change in enumerate(self.changes(examination, mine)):
            paced, words = speeds.changed(examination, change.statements, change.arms), change.words
            if change.drawing and "gain" in paced and not paced["same"]:
                paced, words = speeds.apart(examination, change.statements), f"{words} {APART}"
            if "gain" not in paced:
                missing = f"{said}; {paced['why']}"
            elif not paced["same"]:
                missing = f"{said}; {words}, the training computes something else"
            elif paced["gain"] < speeds.FASTER:
                missing = f"{said}; {words}, the steps are {paced['gain']:.2f} times as fast: too little to be the cause"
            else:
                examination.memory[f"{self.cause} change"] = number
                examination.memory[f"{self.cause} gain"] = paced
                site = self.site(examination, mine)
                values = {k: paced[k] for k in ("steps", "before", "after", "gain", "spread")}
                text = f"{said}; {speeds.told(paced, words)}"
                return confirmed(self.cause, site, Evidence("experiment", True, text, values, site))
        return inconclusive(self.cause, missing)

    def facts(self, examination: Examination) -> Facts:
        mine = self.own(examination)
        if not mine:
            return {}
        extra = {
            "change": examination.memory.get(f"{self.cause} change"),
            "gain": examination.memory.get(f"{self.cause} gain"),
        }
        return self.known(examination, mine) | extra

    def own(self, examination: Examination) -> Facts:
        """The cause's facts, taken once."""
        if examination.symptom.kind != "invariant" or examination.lab is None:
            return {}
        return examination.once(f"{self.cause} seen", lambda: self.mine(examination))
