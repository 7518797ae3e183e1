"""rng-state-not-restored: a resumed training draws other numbers than the straight one."""

from __future__ import annotations

from firstcause.specialists import resumes

CAUSE = "rng-state-not-restored"

_FORM = resumes.form(CAUSE, "generator")
seen, propose, settle, facts, alone = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts, resumes.watched
