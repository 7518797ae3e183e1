"""scheduler-state-not-restored: a resumed training starts its schedule anew."""

from __future__ import annotations

from firstcause.specialists import resumes

CAUSE = "scheduler-state-not-restored"

_FORM = resumes.form(CAUSE, "scheduler")
seen, propose, settle, facts, alone = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts, resumes.watched
