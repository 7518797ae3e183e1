"""Bare numbers that belong to a thing of their own: "beta 0.1 yes", "in epoch 2", "the three MLP ones"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_ORDINALS = word_set("belongs", "ordinals")
_NO_NAMES = word_set("belongs", "no_names") | word_set("pairing", "links") | word_set("leftovers", "no_nouns")
_LINKS = frozenset({"of", "is", "=", "at", ":", "to", "stays", "remains"})
_ONES = frozenset({"one", "ones"})
_REACH = 4


def is_nth(line: Line, at: int) -> bool:
    """Whether a number says which one is meant: "in epoch 2", "round 1 used 1e-4"."""
    token, before = line.tokens[at], line.tokens[at - 1] if at else None
    named = before is not None and before.text.split()[-1:] != [] and before.text.split()[-1] in _ORDINALS
    return named and token.value == int(token.value) and not token.unit and not token.spelled


def counts_ones(line: Line, at: int) -> bool:
    """Whether things are counted that are called "ones": "the three MLP ones (gate, up, down)"."""
    if not line.tokens[at].spelled:
        return False
    own = line.tokens[at].segment
    return bool(
        _ONES
        & set(words_in(t for t in line.tokens[at + 1 : at + _REACH] if t.segment == own and t.kind == "word"))
    )


def has_other_name(line: Line, at: int) -> bool:
    """Whether a word that is no key names a number, and nothing else opens its clause: "beta 0.1", "gamma of 0.99"."""
    tokens = line.tokens
    place = at - 1
    while place > 0 and tokens[place].text in _LINKS:
        place -= 1
    name = tokens[place] if place >= 0 else None
    if name is None or name.kind != "word" or name.entry is not None or len(name.text) < 3:
        return False
    opens = place == 0 or tokens[place - 1].kind == "break" or tokens[place - 1].text in ("the", "a", "and")
    return opens and name.text not in _NO_NAMES and not name.text.endswith("ly")
