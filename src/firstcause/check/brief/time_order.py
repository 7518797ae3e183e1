"""Which rows are held out: "split strictly by time, never at random", "the last 28 days are validation"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.split_by import tells_how_it_lies
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set
from firstcause.check.orders_of_rows import BY_TIME, RANDOM

_BY_TIME = tuple(f" {phrase} " for phrase in sorted(word_set("time_order", "by_time")))
_AT_RANDOM = word_set("time_order", "at_random")
_SPLITS = word_set("time_order", "splits")
_SPANS = word_set("time_order", "spans")
_HELD = frozenset({"validation", "valid", "val", "dev", "test", "held", "holdout", "hold"})
_ARE = frozenset({"are", "is", "be", "form", "become", "for", "as", "go", "goes", "to", "make", "serve"})
_ENDS = (["last"], ["final"], ["latest"], ["newest"])
_TIMES = frozenset({"history", "period", "recording", "series", "time", "timeline", "timespan"})
_REACH = 6


def order_in_time(line: Line) -> None:
    """Claim that a split goes by time, and that a random one is not wanted."""
    if line.scene.inference:
        return
    _not_at_random(line)
    tokens = line.tokens
    for at in range(len(tokens)):
        said = f" {' '.join(words_in(tokens[at : at + 4]))} "
        phrase = next((p for p in _BY_TIME if said.startswith(p)), "")
        last = at + _length(line, at, phrase) - 1 if phrase else at
        lies = next((n for n, t in enumerate(tokens[:at]) if t.text == "split"), -1)
        if lies >= 0 and tells_how_it_lies(line, lies):
            continue
        if phrase and _splits(line, at) and not any(t.claimed for t in tokens[at : last + 1]):
            line.claim(Reading("data_split", BY_TIME, at, last))
            return
    _last_span(line)


def _length(line: Line, at: int, phrase: str) -> int:
    """How many tokens the words of a phrase are."""
    words = len(phrase.split())
    for count in range(1, words + 1):
        if len(words_in(line.tokens[at : at + count])) >= words:
            return count
    return words


def _splits(line: Line, at: int) -> bool:
    """Whether a split is spoken of beside it."""
    statement = line.tokens[at].statement
    near = [t for t in line.tokens[max(0, at - _REACH) : at + _REACH] if t.statement == statement]
    return any(w in _SPLITS for w in (*words_in(near), *(t.text for t in near)))


def _not_at_random(line: Line) -> None:
    """Claim "no random split", "never at random": a random one is not wanted."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        words = token.text.split()
        if words[-1] not in _AT_RANDOM or token.claimed or not at:
            continue
        before = tokens[max(0, at - 3) : at]
        denied = any(t.has("not") and t.segment == token.segment for t in before)
        if denied and _splits(line, at):
            line.claim(Reading("data_split", RANDOM, at, at, polarity="forbid", settled=True))
            return


def _is_of_time(line: Line, at: int) -> bool:
    """ "Of the time", "of the period", "of the recording"."""
    words = line.words(at, at + 3)
    return words[:1] == ["of"] and bool(_TIMES & set(words[1:]))


def _last_span(line: Line) -> None:
    """Claim "the last 28 days are validation", "the final two weeks as test set"."""
    tokens = line.tokens
    for at, token in enumerate(tokens[:-3]):
        counts = token.kind == "number" and not token.claimed and tokens[at + 1].text in _SPANS
        share = token.kind == "number" and not token.claimed and token.unit == "%"
        if (
            share
            and line.words(at - 1, at) in _ENDS
            and _is_of_time(line, at + 1)
            and _HELD & set(words_in(tokens))
        ):
            # "Validation must be the last 20 % of the time": how many is read beside it.
            line.claim(Reading("data_split", BY_TIME, at - 1, at - 1))
            return
        if not counts or line.words(at - 1, at) not in _ENDS:
            continue
        after = words_in(t for t in tokens[at + 2 : at + 6] if t.segment == token.segment)
        if after and after[0] in _ARE and _HELD & set(after[1:4]):
            line.claim(Reading("data_split", BY_TIME, at, at + 1))
            return
