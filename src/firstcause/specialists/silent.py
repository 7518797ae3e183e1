"""The form of a cause that only an audit shows: all that it says is made from the facts that are its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import inconclusive


@dataclass(frozen=True)
class Silent:
    """What a cause's module needs as ``seen``, ``propose``, ``settle`` and ``facts``.

    ``mine`` takes the cause's own facts out of an audit, empty where there are none; ``told`` says them in one sentence;
    ``settled`` gives the verdict on them; ``known`` hands them to the fix; ``missing`` names the audit that would show them.
    ``alone`` is a cheaper audit for this cause only, made before the one that serves all.
    """

    cause: str
    mine: Callable[[Ran], Facts]
    told: Callable[[Facts], str]
    settled: Callable[[str, Examination, Facts], Hypothesis]
    known: Callable[[Examination, Facts], Facts]
    missing: str
    alone: Callable[[Examination], Ran | None] | None = None

    def seen(self, found: Ran, examination: Examination) -> str | None:
        mine = self.mine(found)
        return self.told(mine) if mine else None

    def propose(self, examination: Examination) -> bool:
        return bool(self._mine(examination))

    def settle(self, hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
        mine = self._mine(examination)
        return self.settled(self.cause, examination, mine) if mine else inconclusive(self.cause, self.missing)

    def facts(self, examination: Examination) -> Facts:
        mine = self._mine(examination)
        return self.known(examination, mine) if mine else {}

    def _mine(self, examination: Examination) -> Facts:
        if self.alone is None:
            found = audits.audit(examination)
        else:
            found = self.alone(examination)
        return self.mine(found) if found is not None else {}
