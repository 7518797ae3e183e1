"""dead-relu-init: more than half of the units of a ReLU give 0 from the first step on."""

from __future__ import annotations

from firstcause.specialists import starts

CAUSE = starts.DEAD
_FORM = starts.Start(CAUSE)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
