"""What the words around a number make of it: exactly, at most, at least, about."""

from __future__ import annotations

from firstcause.check.brief.reading import Line
from firstcause.check.brief.vocabulary import word_set
from firstcause.schema.instruction import Relation

LIMITS: dict[str, Relation] = {"most": "max", "least": "min", "about": "approx"}
_SIGNS: dict[str, Relation] = {"<": "max", "<=": "max", "≤": "max", ">": "min", ">=": "min", "≥": "min"}
_CEILINGS = word_set("limits", "ceilings")
_FLOORS = word_set("limits", "floors")
_LINKS = word_set("limits", "links")
# A limit that stands after its number; others belong to what comes next.
_AFTER = word_set("limits", "after")
_REACH = 5
# "Raise it up to 3e-3" names where it shall be, and no ceiling.
_RAISES = word_set("limits", "raises")


def limit(line: Line, first: int, last: int, number: int) -> Relation:
    """The relation of a number in the pair of words from ``first`` to ``last``."""
    denied = _denied_limit(line, first, last)
    if denied is not None:
        return denied
    tokens = line.tokens
    if (
        number + 1 < len(tokens)
        and tokens[number + 1].text == "+"
        and tokens[number + 1].start == tokens[number].end
    ):
        return "min"
    if (
        number == last
        and number + 2 < len(tokens)
        and tokens[number + 1].text == "("
        and tokens[number + 2].has("most")
    ):
        # "Epochs: 3 (not more)".
        return "max"
    for at in [*range(first + 1, last), *_around(line, first, last)]:
        token = tokens[at]
        if token.segment != tokens[number].segment:
            continue
        if token.kind == "join" and token.text in _SIGNS and at < number:
            return _SIGNS[token.text]
        if token.text == "up to" and _is_raised(line, at):
            return "eq"
        for cue, relation in LIMITS.items():
            if token.has(cue):
                return relation
    return "eq"


def _is_raised(line: Line, at: int) -> bool:
    tokens = line.tokens
    return any(t.text in _RAISES and t.statement == tokens[at].statement for t in tokens[:at])


def is_denied_limit(line: Line, first: int, last: int) -> bool:
    """Whether a negation here is a part of a limit, as in "don't go above 5"."""
    return _denied_limit(line, first, last) is not None


def _denied_limit(line: Line, first: int, last: int) -> Relation | None:
    tokens = line.tokens
    for at in range(last, max(-1, first - _REACH), -1):
        token = tokens[at]
        if token.segment != tokens[last].segment:
            break
        # "Longer than" is two words.
        text = next(
            (w for w in (token.text, " ".join(line.words(at, at + 2))) if w in _CEILINGS | _FLOORS), ""
        )
        if not text or token.has("not"):
            continue
        before = [t for t in tokens[max(0, at - _REACH) : at] if t.segment == token.segment]
        if any(t.has("not") for t in before):
            return "max" if text in _CEILINGS else "min"
    return None


def _around(line: Line, first: int, last: int) -> list[int]:
    """The places before and after a pair, as far as only small words lie between."""
    places = []
    for step, at in ((-1, first - 1), (1, last + 1)):
        for _ in range(3):
            if not 0 <= at < len(line.tokens):
                break
            token = line.tokens[at]
            limits = any(token.has(cue) for cue in LIMITS) or (step < 0 and token.text in _SIGNS)
            if token.claimed or (step > 0 and limits and token.text not in _AFTER):
                break
            places.append(at)
            if limits or token.kind != "word" or token.text not in _LINKS:
                break
            at += step
    return places
