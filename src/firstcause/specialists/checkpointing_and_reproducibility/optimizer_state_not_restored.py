"""optimizer-state-not-restored: a resumed training starts with an empty optimizer."""

from __future__ import annotations

from firstcause.specialists import resumes

CAUSE = "optimizer-state-not-restored"

_FORM = resumes.form(CAUSE, "optimizer")
seen, propose, settle, facts, alone = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts, resumes.watched
