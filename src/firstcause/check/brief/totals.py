"""A batch that is put together: "take 4 per step and accumulate until you have 64", "batch 32 in total (8 fit)"."""

from __future__ import annotations

from firstcause.check.brief.counts import unit_of
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.samples import together
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_ACCUMULATES = word_set("totals", "accumulates")
_UNTIL = word_set("totals", "until")
_BETWEEN = word_set("totals", "between")
_IN_TOTAL = word_set("totals", "in_total")
# "The batch should come to 32".
_COMES_TO = frozenset({"come", "comes", "amount", "amounts", "reach", "reaches"})
_TO_NUMBER = frozenset(
    {
        "of",
        "be",
        "size",
        "is",
        "=",
        ":",
        "should",
        "must",
        "has",
        "have",
        "to",
        "out",
        "at",
        "shall",
        "up",
        *_COMES_TO,
    }
)
_SMALL = word_set("totals", "small")
_ARE_THERE = word_set("totals", "are_there")
_JOINS = frozenset({",", "so", "=", "and", "i.e", "that", "is", "makes", "→", "->", "=>", "(", "or", "hence"})
_REACH = 9


def total_batches(line: Line) -> None:
    """Claim the number that a batch is to reach; it counts samples, never micro batches."""
    for at, token in enumerate(line.tokens):
        if token.claimed:
            continue
        if token.text in _ACCUMULATES:
            _until(line, at)
            if not token.claimed:
                _until_accumulated(line, at)
        elif token.key in ("batch_size", "effective_batch_size"):
            _in_total(line, at)
            _after_parts(line, at)


def per_pass(line: Line) -> None:
    """Give the batch beside such a total the scope that it has: what one device takes at once."""
    if any(r.key == "effective_batch_size" and r.settled for r in line.readings):
        for reading in line.readings:
            if reading.key == "batch_size" and not reading.scope:
                reading.scope = "per_device"


def _until(line: Line, at: int) -> None:
    tokens = line.tokens
    reaches = False
    for place in range(at + 1, min(at + _REACH, len(tokens))):
        token = tokens[place]
        if token.kind == "number":
            if reaches and _counts_samples(line, place):
                also = [n for n in (place - 1, place + 1) if n < len(tokens) and _is_total(tokens[n])]
                _claim(line, place, [at, place, *also])
            return
        if not (_BETWEEN | _UNTIL).issuperset(token.text.split()) and not _is_total(token):
            # "Until it is 32": "it is" may be one phrase.
            return
        reaches = reaches or token.text in _UNTIL or _is_total(token)


def _until_accumulated(line: Line, at: int) -> None:
    """The 64 in "until 64 are accumulated"."""
    number = at - 1
    while number > 0 and line.tokens[number].text in _SMALL:
        number -= 1
    if number < 1 or line.tokens[number].kind != "number" or not _counts_samples(line, number):
        return
    if line.tokens[number - 1].text in ("until", "till"):
        _claim(line, number, [number, at])


def _counts_samples(line: Line, at: int) -> bool:
    token = line.tokens[at]
    if token.claimed or token.unit or token.value != int(token.value) or token.value < 2:
        return False
    return at + 1 >= len(line.tokens) or not unit_of(line.tokens[at + 1])


def _in_total(line: Line, at: int) -> None:
    """The 32 in "batch 32 in total" and "a batch of 64, overall"."""
    tokens = line.tokens
    number = _after_parenthesis(line, at + 1)
    aside = number > at + 1
    while number < len(tokens) and tokens[number].text in _TO_NUMBER:
        number += 1
    if number >= len(tokens) or tokens[number].kind != "number" or not _counts_samples(line, number):
        return
    things = number + 1 < len(tokens) and tokens[number + 1].has("data")
    following = line.words(number + 1 + things, number + 3 + things)
    if aside or set(line.words(at + 1, number)) & _COMES_TO:
        _claim(line, number, [at, number])
        return
    after = tokens[number + 1 + things : number + 1 + things + _REACH]
    if together(line, number + 1 + things) and not any(t.kind == "number" for t in after):
        # "128 over both cards together".
        _claim(line, number, [at, number])
    elif following[:1] and following[0] in _IN_TOTAL:
        _claim(line, number, [at, number, number + 1 + things])
    elif " ".join(following) in _IN_TOTAL:
        _claim(line, number, [at, number, number + 1 + things, number + 2 + things])


def _after_parts(line: Line, at: int) -> None:
    """The 256 in "64 per GPU, 256 in total"."""
    tokens = line.tokens
    entry = tokens[at].entry
    named = entry.named if entry is not None else None
    if named is None or named.scope != "per_device" or not at or tokens[at - 1].kind != "number":
        return
    number = at + 1
    while number < len(tokens) and tokens[number].text in _JOINS:
        number += 1
    following = line.words(number + 1, number + 3)
    total = (following[:1] and following[0] in _IN_TOTAL) or " ".join(following) in _IN_TOTAL
    counts = number < len(tokens) and tokens[number].kind == "number" and _counts_samples(line, number)
    if counts and total and tokens[number].value >= tokens[at - 1].value:
        _claim(line, number, [number, number + 1])


def _after_parenthesis(line: Line, at: int) -> int:
    """The place after "(all GPUs together)", where that stands here."""
    tokens = line.tokens
    if at + 2 >= len(tokens) or tokens[at].text != "(":
        return at
    closing = next((n for n in range(at, min(at + _REACH, len(tokens))) if tokens[n].text == ")"), 0)
    return closing + 1 if closing and together(line, at + 1) else at


def _claim(line: Line, number: int, places: list[int]) -> None:
    last = max(places)
    while last + 1 < len(line.tokens) and line.tokens[last + 1].text in _ARE_THERE:
        # "Until 64 are reached" tells of nothing past.
        last += 1
        line.tokens[last].entry = None
    value = whole(line.tokens[number].value)
    line.claim(Reading("effective_batch_size", value, min(places), last, settled=True), *places)


def _is_total(token: Token) -> bool:
    return token.text in _IN_TOTAL or token.key == "effective_batch_size"
