"""vanishing-gradient: squashing functions between the layers leave the first ones no gradient."""

from __future__ import annotations

from firstcause.specialists import starts

CAUSE = starts.VANISHING
_FORM = starts.Start(CAUSE)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
