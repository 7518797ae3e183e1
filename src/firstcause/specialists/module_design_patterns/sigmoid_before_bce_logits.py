"""sigmoid-before-bce-logits: a loss of logits is given the output of a sigmoid, and applies another one."""

from __future__ import annotations

from firstcause.specialists import activated

CAUSE = "sigmoid-before-bce-logits"
_FORM = activated.form(CAUSE, "sigmoid")
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
