"""The user's words as instructions: a grammar, no guessing; the later message wins, every one keeps its sentence."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.comments import (
    asks_to_write,
    is_reason,
    lists_wishes,
    names_asker,
    points_to_code,
    speaks_for_user,
    wishes,
)
from firstcause.check.brief.conversation import Heard, hear
from firstcause.check.brief.derive import contradictions, derived
from firstcause.check.brief.supersede import settle_order
from firstcause.check.brief.text import Kind, Text
from firstcause.check.brief.turns import turns
from firstcause.check.brief.vocabulary import vocabulary
from firstcause.schema.instruction import Instruction

# Counts of what happens once where it is not wanted.
_ONCE = frozenset({"gradient_accumulation"})

__all__ = [
    "Kind",
    "Text",
    "asks_to_write",
    "contradictions",
    "is_reason",
    "lists_wishes",
    "names_asker",
    "points_to_code",
    "read",
    "speaks_for_user",
]


def read(texts: Sequence[Text]) -> list[Instruction]:
    """What the user asks for in some texts, in the order in which it is said, superseded wishes included.

    Values are in the normal form that ``catalog/brief/keys.toml`` gives for each key. Those that follow by
    arithmetic come last, marked ``derived``. Raises ``KnowledgeError`` where the vocabulary cannot be read.
    """
    known = vocabulary()
    found: list[Instruction] = []
    for text in texts:
        parts = [text] if text.kind in ("brief", "transcript") else list(wishes(text))
        for part in parts:
            several = len(turns(part.content)) > 1
            for heard in settle_order(list(hear(part, known)), known):
                found.append(_instruction(heard, part, several))
    return [*found, *derived(found)]


def _instruction(heard: Heard, text: Text, several: bool) -> Instruction:
    reading = heard.reading
    value, polarity = reading.value, reading.polarity
    if polarity == "forbid" and value == "none" and reading.key in _ONCE:
        # "No accumulation" is one batch per update, which a config may say as well.
        value, polarity = 1, "require"
    return Instruction(
        reading.key, value, heard.sentence, reading.relation, polarity, reading.strength, reading.scope,
        reading.status, reading.condition, f"{text.origin} message {heard.turn}" if several else text.origin, heard.line,
    )  # fmt: skip
