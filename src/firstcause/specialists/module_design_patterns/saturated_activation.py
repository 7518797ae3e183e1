"""saturated-activation: sigmoid or tanh sits at its bound from the first step on."""

from __future__ import annotations

from firstcause.specialists import starts

CAUSE = starts.SATURATED
_FORM = starts.Start(CAUSE)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
