"""The bare word "step" as a schedule: "schedule: step", but neither "per device and step" nor "step it once per epoch"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_BETWEEN = word_set("stepping", "between")
# "Every step", "device and step": a step of the training.
_OF_TRAINING = word_set("stepping", "of_training")
# "Step it", "step the scheduler": what the loop does.
_OBJECTS = word_set("stepping", "objects")
_NOT = frozenset({"rather than", "instead of", "and not", "in place of"})
_REACH = 3


def is_step_schedule(line: Line, at: int) -> bool:
    """Whether "step" at this place is what a schedule is called."""
    tokens = line.tokens
    if _is_called(tokens, at):
        return False
    before = tokens[at - 1] if at else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if (
        after is not None
        and after.text in _NOT
        and any(t.gives("scheduler") for t in tokens[at + 2 : at + 4])
    ):
        # "Step rather than cosine".
        return True
    if before is not None and before.text in ("not", "no") and after is not None and after.text in _OBJECTS:
        return False
    if after is not None and _is_rate(after) and (before is None or before.text not in _OF_TRAINING):
        # "A step learning rate".
        return True
    if after is not None and (after.kind == "number" or after.has("every") or after.text in _OBJECTS):
        return False
    place = at - 1
    while place >= 0 and at - place <= _REACH and tokens[place].text in _BETWEEN:
        place -= 1
    if place >= 0 and at - place <= _REACH:
        other = tokens[place]
        return other.key == "scheduler" or (_is_rate(other) and place < at - 1)
    return False


def _is_rate(token: Token) -> bool:
    return token.key in ("scheduler", "learning_rate")


def _is_called(tokens: list[Token], at: int) -> bool:
    """Whether it is a call in code: "scheduler.step()"."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    return after is not None and after.text == "(" and after.start == tokens[at].end
