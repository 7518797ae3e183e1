"""Lengths that are said by the way: "sequences 1536", "the longest has 1900 tokens, so 2048 is enough"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import vocabulary, word_set

_TEXTS = frozenset({"sequences", "sequence", "seqs", "seq", "seqlen"})
_LONGER = word_set("lengths", "longer")
_NONE = frozenset({"no", "none", "nothing", "never", "not"})
_SUFFICES = word_set("lengths", "suffices")
_LINKS = frozenset({":", "=", "up to", "max", "at most", "to", "limited to", "capped at"})
_IS = frozenset({"is", "are", "has", "have", "gets", "was"})
_EXCEEDS = frozenset({"exceed", "exceeds", "surpass", "surpasses"})
_SOME = word_set("lengths", "some")
_OTHER_THINGS = word_set("lengths", "other_things")
_SHALL = frozenset({"should", "must", "shall", "may", "can", "do", "dont"})
_DRAWN = frozenset({"so", "take", "use", "->", "→", "=>"})
_DATA = frozenset({"data", "corpus", "dataset", "set"})
# Of what is written it is a limit: "no answer is longer than 100 tokens".
_MADE = (
    "answer",
    "output",
    "repl",
    "respon",
    "completion",
    "generat",
    "summar",
    "sure",
    "ensure",
    "translation",
)
# "A context of 4096 tokens" is a bound.
_BOUNDS_SAID = frozenset({"context", "length", "max", "maximum", "limit", "window", "size", "budget", "cap"})
_LEAST = 16
# What is done to texts that are longer.
_CUTS = ("cut", "truncat", "trim", "clip", "chop", "shorten", "crop")
_BEYOND = word_set("lengths", "longer") | word_set("ceilings", "more")
_REACH = 6


def said_by_the_way(line: Line) -> None:
    """Claim the length beside a bare "sequences", and the one that is drawn from the longest text."""
    tokens = line.tokens
    for at in range(1, len(tokens)):
        name = at - 1 - (tokens[at - 1].text in _LINKS and at > 1)
        if _is_length(tokens[at]) and tokens[name].text in _TEXTS and _alone(line, name, at):
            value = in_normal_form(vocabulary().keys["max_length"], tokens[at])
            line.claim(Reading("max_length", value, name, at))
    _enough(line)


def is_cut(line: Line, reading: Reading) -> bool:
    """Whether what goes beyond a length is cut off: "everything longer than 256 tokens can be truncated"."""
    tokens = line.tokens
    segment = tokens[reading.first].segment
    before = [t for t in tokens[max(0, reading.first - _REACH) : reading.last + 1] if t.segment == segment]
    after = [t for t in tokens[reading.last + 1 : reading.last + _REACH] if t.segment == segment]
    beyond = any(t.text in _BEYOND for t in before)
    return beyond and any(t.text.startswith(_CUTS) for t in after)


def _enough(line: Line) -> None:
    """Leave "none is longer than 480 tokens" to the data, and claim the 512 that is drawn from it."""
    tokens = line.tokens
    numbers = [at for at, t in enumerate(tokens) if _is_length(t)]
    for first in numbers:
        unit = first + 1 < len(tokens) and tokens[first + 1].key == "max_length"
        if unit and _of_some(line, first):
            # "Half of the documents have more than 600 tokens" bounds nothing.
            tokens[first].claimed = tokens[first + 1].claimed = True
            continue
        bare = not unit and (first + 1 >= len(tokens) or tokens[first + 1].kind == "break")
        if not (unit or (bare and _exceeded_by_none(line, first))) or not _describes(line, first):
            continue
        unit_at = first + unit
        tokens[first].claimed = tokens[unit_at].claimed = True
        second = next((n for n in numbers if n > first), 0)
        after = tokens[second + 1 : second + 4] if second else []
        suffices = any(t.text in _SUFFICES for t in after) or " ".join(t.text for t in after[:2]) in _SUFFICES
        suffices = suffices or (second > 0 and tokens[second - 1].text in _DRAWN)
        if _of_one_kind(line, second):
            # "Clauses of 4 tokens and of 150 tokens".
            tokens[second].claimed = tokens[second + 1].claimed = True
            return
        if suffices and not tokens[second].claimed and tokens[second].value >= tokens[first].value:
            for told in tokens[:first]:
                # What is drawn from it is a wish.
                told.entry = None if told.has("told") else told.entry
            value = in_normal_form(vocabulary().keys["max_length"], tokens[second])
            named = next((n for n in range(first + 2, second) if tokens[n].key == "max_length"), second)
            line.claim(
                Reading("max_length", value, named, second, strength="should", settled=True), named, second
            )
        elif not second and line.scene.training and _exceeded_by_none(line, first):
            # Nothing that is cut there is lost.
            value = in_normal_form(vocabulary().keys["max_length"], tokens[first])
            line.claim(
                Reading("max_length", value, first, unit_at, strength="should", settled=True), first, unit_at
            )
        return


def _of_one_kind(line: Line, second: int) -> bool:
    """Whether a second length is described like the first: "of 4 tokens and of 150 tokens"."""
    named = second + 1 < len(line.tokens) and line.tokens[second + 1].key == "max_length"
    return (
        second > 2 and named and line.words(second - 2, second) in (["and", "of"], ["to", "of"], ["or", "of"])
    )


def _of_some(line: Line, number: int) -> bool:
    """Whether some of the texts are measured: "a third of them exceed 600 tokens"."""
    before = [t for t in line.tokens[:number] if t.statement == line.tokens[number].statement]
    words = set(words_in(before))
    some = bool(words & _SOME) or any(t.kind == "number" and (t.unit == "%" or t.spelled) for t in before)
    longer = bool(words & _EXCEEDS) or (bool(words & _IS) and any(t.text in _LONGER for t in before))
    return some and "of" in words and longer and not words & _SHALL


def _exceeded_by_none(line: Line, number: int) -> bool:
    """Whether no text at all is longer: then the number is a length that loses nothing."""
    before = [t for t in line.tokens[:number] if t.statement == line.tokens[number].statement]
    words = words_in(before)
    of_others = any(w.startswith(_MADE) for w in words)
    return any(w in _NONE for w in words) and not set(words) & _OTHER_THINGS and not of_others


def _describes(line: Line, number: int) -> bool:
    """Whether the texts that are there are measured: "the longest has 1900 tokens", "none exceeds 480"."""
    before = [t for t in line.tokens[:number] if t.statement == line.tokens[number].statement]
    words = words_in(before)
    if line.words(number + 2, number + 3) == ["in"] and _DATA & set(line.words(number + 3, number + 6)):
        # "At most 700 tokens in our data".
        return True
    if "longest" in words:
        return bool(set(words) & _IS)
    described = words[-2:-1] and words[-2] not in _BOUNDS_SAID and words[-1:] == ["of"]
    if {"have", "has"} & set(words) and described and not set(words) & _SHALL:
        # "Our contracts have clauses of 4 tokens".
        return True
    none = any(w in _NONE for w in words) and not any(w.startswith(_MADE) for w in words)
    longer = bool(set(words) & _EXCEEDS) or (
        bool(set(words) & _IS) and any(t.text in _LONGER for t in before)
    )
    return none and longer and not set(words) & _SHALL


def _is_length(token: Token) -> bool:
    key = vocabulary().keys["max_length"]
    return (
        token.kind == "number"
        and not token.claimed
        and token.value >= (_LEAST if not token.unit else 0)
        and accepts(key, token)
    )


def _alone(line: Line, name: int, at: int) -> bool:
    """Whether nothing but the word and its number stands here: "4000 sequences 512 of which" counts."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    before = line.tokens[name - 1] if name else None
    ends = (
        after is None or after.kind in ("break", "join") or after.text in ("and", "max", "maximum", "tokens")
    )
    return ends and (before is None or before.kind != "number")
