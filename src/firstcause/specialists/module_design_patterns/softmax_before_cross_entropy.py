"""softmax-before-cross-entropy: a loss of logits is given the output of a softmax, and applies another one."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import activated, audits
from firstcause.specialists.examination import Examination, Facts

CAUSE = "softmax-before-cross-entropy"
ACTIVATION = "softmax"


def seen(found: Ran, examination: Examination) -> str | None:
    return activated.told(found, ACTIVATION)


def propose(examination: Examination) -> bool:
    return activated.found_of(audits.audit(examination), ACTIVATION) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return activated.settle(CAUSE, examination, ACTIVATION)


def facts(examination: Examination) -> Facts:
    return activated.facts(examination, ACTIVATION)
