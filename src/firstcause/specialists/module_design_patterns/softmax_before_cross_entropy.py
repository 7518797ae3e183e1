"""softmax-before-cross-entropy: a loss of logits is given the output of a softmax, and applies another one."""

from __future__ import annotations

from firstcause.specialists import activated

CAUSE = "softmax-before-cross-entropy"
_FORM = activated.form(CAUSE, "softmax")
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
