"""data-bound-getitem: making a sample does work again that an earlier sample has done already, and the step waits for it."""

from __future__ import annotations

from firstcause.specialists import repeated_work

CAUSE = "data-bound-getitem"

_FORM = repeated_work.form(CAUSE, repeated_work.of_data)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
