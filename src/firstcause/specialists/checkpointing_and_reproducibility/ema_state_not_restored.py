"""ema-state-not-restored: a resumed training averages on from other weights than it had averaged."""

from __future__ import annotations

from firstcause.specialists import resumes

CAUSE = "ema-state-not-restored"

_FORM = resumes.form(CAUSE, "average")
seen, propose, settle, facts, alone = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts, resumes.watched
