"""What one card holds at a time: "one card holds 8 pairs" says no number of cards, but the batch of each."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token

_HOLDS = frozenset({"holds", "takes", "fits", "can hold", "can take"})
# Of speech, but also what something takes.
_TIME = frozenset({"seconds", "minutes", "hours", "days", "weeks", "months"})
# What "every card takes" is a setting.
_ARTICLES = frozenset({"our", "my", "the", "this", "a", "that"})
_ONLY = frozenset({"only", "just", "barely"})
_REACH = 5


def held_by_one(line: Line) -> None:
    """Claim the batch per device, and with it the "one" that counts no devices."""
    _held_by_ours(line)
    tokens = line.tokens
    for at, token in enumerate(tokens[:-3]):
        card, verb = tokens[at + 1].text, tokens[at + 2].text
        one = token.kind == "number" and token.value == 1 and not token.claimed
        if not one or card not in ("card", "gpu") or verb not in _HOLDS:
            continue
        behind = range(at + 3, min(at + _REACH, len(tokens) - 1))
        number = next((n for n in behind if _is_count(tokens[n])), 0)
        noun = tokens[number + 1]
        if number and noun.has("data") and noun.text not in _TIME:
            token.claimed = True
            line.claim(
                Reading("batch_size", whole(tokens[number].value), at, number, scope="per_device"), number
            )


def _held_by_ours(line: Line) -> None:
    """Claim the 4 in "our card only holds 4 pairs" as the most that a device takes at once."""
    tokens = line.tokens
    for at, token in enumerate(tokens[:-3]):
        card = tokens[at + 1]
        verb = at + 2 + (tokens[at + 2].text in _ONLY)
        if token.text not in _ARTICLES or not (card.text in ("card", "gpu") or card.kind == "card"):
            continue
        if verb >= len(tokens) - 1 or tokens[verb].text not in _HOLDS | {"manages", "handles", "hold"}:
            continue
        number = next((n for n in range(verb + 1, min(verb + 4, len(tokens) - 1)) if _is_count(tokens[n])), 0)
        noun = tokens[number + 1]
        if number and not tokens[number].claimed and noun.has("data") and noun.text not in _TIME:
            value = whole(tokens[number].value)
            reading = Reading(
                "batch_size", value, number, number, "max", "per_device", settled=True, measured=True
            )
            line.claim(reading, number)


def _is_count(token: Token) -> bool:
    return token.kind == "number" and not token.unit and token.value >= 1
