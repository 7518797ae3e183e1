"""bad-initialisation: weights begin equal, or on a scale that changes what passes by orders of magnitude."""

from __future__ import annotations

from firstcause.specialists import starts

CAUSE = starts.INITIAL
_FORM = starts.Start(CAUSE)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
