"""The review of a patch: every rule is asked, and each says where and why."""

from __future__ import annotations

from firstcause.fix.review.reading import changes_of
from firstcause.fix.review.reason import Review
from firstcause.fix.review.rules import RULES
from firstcause.fix.review.setting import Setting


def review(diff: str, root: str, setting: Setting | None = None) -> Review:
    """Review a unified diff of files below ``root``; raises ``InputError`` where it cannot be read."""
    changes = changes_of(diff, root)
    known = setting or Setting()
    reasons = dict.fromkeys(reason for rule in RULES for reason in rule.find(changes, known))
    places = [f"{change.path}:{max(first, 1)}" for change in changes for first, _ in change.spans]
    return Review(tuple(reasons), tuple(change.path for change in changes), tuple(places))
