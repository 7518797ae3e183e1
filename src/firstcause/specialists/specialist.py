"""The form of a specialist: a list of causes, each a module that proposes itself and settles itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import curves
from firstcause.specialists.examination import Examination, Facts


class CauseModule(Protocol):
    """One cause: ``CAUSE`` its slug, ``propose`` whether it is worth asking, ``settle`` what the evidence says.

    ``facts`` is what was measured in the words of the cause's module in ``fix/patches``; asked once confirmed.
    """

    CAUSE: str

    def propose(self, examination: Examination) -> bool: ...

    def settle(self, hypothesis: Hypothesis, examination: Examination) -> Hypothesis: ...

    def facts(self, examination: Examination) -> Facts: ...


@runtime_checkable
class SilentCause(Protocol):
    """A cause that a training can have without a word: ``seen`` is the broken invariant in one sentence, or None.

    ``found`` is the audit of the training (``specialists/audits``); what ``seen`` says must hold of no healthy one, or be
    settled by an experiment afterwards.
    """

    CAUSE: str

    def seen(self, found: Ran, examination: Examination) -> str | None: ...


@runtime_checkable
class AloneCause(SilentCause, Protocol):
    """One that has a cheaper audit of its own; None where the program does nothing that it would look at."""

    def alone(self, examination: Examination) -> Ran | None: ...


@dataclass(frozen=True)
class Specialist:
    """One of the nine: its name in the catalogue and the causes that it settles."""

    name: str
    modules: tuple[CauseModule, ...]
    causes: dict[str, CauseModule] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "causes", {m.CAUSE: m for m in self.modules})

    def propose(self, examination: Examination) -> list[Hypothesis]:
        """The open hypotheses that this symptom is worth asking about."""
        return [Hypothesis(m.CAUSE, None, 0) for m in self.modules if m.propose(examination)]

    def settle(self, hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
        """The hypothesis with its status and evidence."""
        before = curves.asked(examination)
        settled = self.causes[hypothesis.cause].settle(hypothesis, examination)
        return curves.with_curves(settled, examination, before)
