"""rebuilt-every-step: an object or a table that never changes is made anew in each step."""

from __future__ import annotations

from firstcause.specialists import repeated_work

CAUSE = "rebuilt-every-step"

_FORM = repeated_work.form(CAUSE, lambda examination, piece: not repeated_work.of_data(examination, piece))
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
