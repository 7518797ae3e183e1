"""Reviews a patch before anybody is asked to approve it: a fix of the cause, or of what only shows it."""

from firstcause.fix.review.reason import Reason, Review
from firstcause.fix.review.reviewing import review
from firstcause.fix.review.setting import Setting

__all__ = ["Reason", "Review", "Setting", "review"]
