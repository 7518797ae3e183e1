"""Values by position: "r/alpha 16/32", "lr/wd 1e-4/0.01", "betas 0.9/0.95", "r and alpha of 16 and 32"."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import Named, word_set
from firstcause.schema.instruction import Relation

_BETWEEN = frozenset({"/", "and", ",", "&", "|", "+"})
_SPLITS = word_set("pairs", "splits")
_SKIPPED = word_set("pairs", "skipped")
_PARTS = word_set("pairs", "parts")
_FOR = word_set("pairs", "for")
_FRACTIONS = {"tenth": 0.1, "fifth": 0.2, "quarter": 0.25, "twentieth": 0.05, "eighth": 0.125}
_RANGES = frozenset({"anywhere", "somewhere", "anything", "ranging", "something", "range"})
_NAMED_WITHIN = 14
_HOLDS = frozenset({"hold", "keep", "leave", "set", "put"})
_APART = frozenset({"out", "aside", "back", "apart", "away"})


def split_pairs(line: Line) -> None:
    """Claim names that stand together with their numbers together, and the two betas."""
    tokens = line.tokens
    _named_shares(line)
    _each_beta(line)
    _part_held_out(line)
    for at in range(len(tokens) - 2):
        if tokens[at].kind == "number" and tokens[at + 2].kind == "number" and not tokens[at].claimed:
            _from_to(line, at) if tokens[at + 1].text in ("and", "to") else _shares(line, at)
        entry = tokens[at].entry
        if entry is None or entry.named is None:
            continue
        if entry.named.key.name == "adam_betas":
            _betas(line, at)
        elif tokens[at + 1].text in ("/", "and", "&", "="):
            _two(line, at)
            if not tokens[at].claimed:
                _shared(line, at)


def _shares(line: Line, at: int) -> None:
    """A split such as "80/20" or "80/10/10"."""
    tokens = line.tokens
    places = [at]
    while (
        places[-1] + 2 < len(tokens)
        and tokens[places[-1] + 1].text in ("/", ":")
        and tokens[places[-1] + 2].kind == "number"
    ):
        places.append(places[-1] + 2)
    values = [tokens[n].value for n in places]
    words = line.words(at - 4, at) + line.words(places[-1] + 1, places[-1] + 5)
    if (
        not any(w in _SPLITS for t in words for w in t.split())
        or len(values) not in (2, 3)
        or round(sum(values), 6) not in (1, 100)
    ):
        return
    shares = [round(v / sum(values), 6) for v in values]
    line.claim(Reading("data_split", shares[1] if len(shares) == 2 else shares, at, places[-1]))


def _named_shares(line: Line) -> None:
    """A split whose parts are named one by one: "70 train, 15 val, 15 test"."""
    tokens = line.tokens
    found = [
        at
        for at in range(len(tokens) - 1)
        if tokens[at].kind == "number"
        and not tokens[at].claimed
        and next((w for w in words_in(tokens[at + 1 : at + 3]) if w not in _FOR), "") in _PARTS
    ]
    values = [tokens[at].value for at in found]
    if len(found) in (1, 2) and sum(values) < 100 and (rest := _rest(line, found[-1])):
        # "70 percent to train, 15 percent to validate, the rest to test".
        values.append((100 if sum(values) > 1 else 1) - sum(values))
        found.append(rest)
    if len(found) in (2, 3) and found[-1] - found[0] <= _NAMED_WITHIN and round(sum(values), 6) in (1, 100):
        shares = [round(v / sum(values), 6) for v in values]
        line.claim(
            Reading("data_split", shares[1] if len(shares) == 2 else shares, found[0], found[-1]),
            *found,
        )


def _rest(line: Line, at: int) -> int:
    """The place of "the rest" where it is a part of a split, or 0."""
    tokens = line.tokens
    for place in range(at + 1, min(at + _NAMED_WITHIN, len(tokens) - 1)):
        if tokens[place].text in ("rest", "remainder", "remaining"):
            part = next(
                (w for w in words_in(tokens[place + 1 : place + 4]) if w not in _FOR | {"is", "goes"}), ""
            )
            return place if part in _PARTS else 0
    return 0


def _part_held_out(line: Line) -> None:
    """The tenth in "evaluate on a tenth of the pairs" and "keep a fifth of the data for validation"."""
    for at, token in enumerate(line.tokens[1:-1], 1):
        apart = line.tokens[at - 1].text in _HOLDS and _APART & set(line.words(at + 1, at + 6))
        if token.kind == "number" and token.unit == "%" and apart and not token.claimed:
            # "Hold 1% of the pairs out".
            line.claim(Reading("data_split", token.value / 100, at, at), at)
            return
    for at, token in enumerate(line.tokens[:-3]):
        if token.text not in _FRACTIONS or line.tokens[at + 1].text != "of":
            continue
        data = line.tokens[at + 2 : at + 5]
        if any(t.has("data") or t.text in ("data", "dataset", "set", "corpus") for t in data) and any(
            t.has("eval") or "valid" in t.text or t.text in ("hold out", "held out", "dev", "test")
            for t in line.tokens
        ):
            line.claim(Reading("data_split", _FRACTIONS[token.text], at, at + 2), at)
            return


def _from_to(line: Line, at: int) -> None:
    """Both ends of "between 3 and 5 epochs", "3 to 5 epochs" or "anywhere from 1e-5 to 5e-5 for the lr"."""
    tokens = line.tokens
    low, high = tokens[at], tokens[at + 2]
    before = line.words(at - 2, at)
    between = before[-1:] == ["between"]
    ranges = before[-1:] == ["range"] or (before[-1:] in (["from"], ["of"]) and before[0] in _RANGES)
    if tokens[at + 1].text == "to" and high.unit == "b" and low.unit in ("", "b") and low.value < high.value:
        line.claim(Reading("model_size_b", whole(low.value), at, at + 2, "min"))
        line.claim(Reading("model_size_b", whole(high.value), at, at + 2, "max"))
        return
    if (tokens[at + 1].text == "and" and not between) or low.value >= high.value or low.unit != high.unit:
        return
    named = _name_of_range(line, at, everywhere=between or ranges)
    if (
        named is None
        or (before[-1:] == ["from"] and not ranges)
        or any(w in ("raise", "lower", "change", "reduce", "increase") for w in before)
    ):
        return
    place, name = named
    if accepts(name.key, low) and accepts(name.key, high):
        ends: tuple[tuple[Token, Relation], ...] = ((low, "min"), (high, "max"))
        for token, relation in ends:
            value = in_normal_form(name.key, token)
            line.claim(
                Reading(name.key.name, value, min(at, place), max(at + 2, place), relation, name.scope),
                at,
                at + 2,
                place,
            )


def _name_of_range(line: Line, at: int, everywhere: bool) -> tuple[int, Named] | None:
    """The key whose range stands here: the unit after it, or a name in the same segment."""
    places = (
        [at + 3] if not everywhere else [at + 3, *range(at - 2, max(-1, at - 7), -1), *range(at + 4, at + 8)]
    )
    for place in places:
        entry = (
            line.tokens[place].entry
            if 0 <= place < len(line.tokens) and _in_one_breath(line, place, at)
            else None
        )
        if entry is not None and entry.named is not None and (everywhere or entry.named.count):
            return place, entry.named
    return None


def _in_one_breath(line: Line, a: int, b: int) -> bool:
    """Whether nothing parts two places but the "as" of "between 8 and 16 as batch size"."""
    first, last = sorted((a, b))
    between = line.tokens[first : last + 1]
    return line.same_segment(a, b) or (
        line.tokens[last].segment == line.tokens[first].segment + 1
        and any(t.text == "as" for t in between)
        and all(t.kind != "break" for t in between)
    )


def _numbers(line: Line, at: int) -> list[int]:
    """The places of two numbers that stand together from here on, or nothing."""
    tokens = line.tokens
    while at < len(tokens) and tokens[at].text in _SKIPPED:
        at += 1
    if (
        at + 2 < len(tokens)
        and tokens[at].kind == tokens[at + 2].kind == "number"
        and tokens[at + 1].text in _BETWEEN
    ):
        return [at, at + 2]
    return []


def _betas(line: Line, at: int) -> None:
    found = _numbers(line, at + 1)
    if found and all(0 <= line.tokens[n].value < 1 for n in found):
        values = [whole(line.tokens[n].value) for n in found]
        line.claim(Reading("adam_betas", values, at, found[1]))


def _shared(line: Line, at: int) -> None:
    """Two names with one number: "alpha = rank = 16", "both rank and alpha are 16"."""
    tokens = line.tokens
    first, other = tokens[at].entry, tokens[at + 2].entry
    number = at + 3
    while number < len(tokens) and tokens[number].text in _SKIPPED | {"both", "equal", "set"}:
        number += 1
    if (
        first is None
        or first.named is None
        or other is None
        or other.named is None
        or number >= len(tokens)
        or tokens[number].kind != "number"
        or not (
            tokens[at + 1].text == "="
            or (tokens[at + 1].text in ("and", "&") and "both" in line.words(at - 1, number))
        )
    ):
        return
    if all(accepts(n.key, tokens[number]) for n in (first.named, other.named)) and first.named != other.named:
        for named, place in ((first.named, at), (other.named, at + 2)):
            line.claim(
                Reading(
                    named.key.name, in_normal_form(named.key, tokens[number]), min(place, number), number
                ),
                place,
                number,
            )


def _each_beta(line: Line) -> None:
    """Both betas by their own names: "beta1 0.9 and beta2 0.98"."""
    found = [
        next((n for n in range(at + 1, min(at + 4, len(line.tokens))) if line.tokens[n].kind == "number"), 0)
        for name in ("beta1", "beta2")
        for at, token in enumerate(line.tokens)
        if token.text == name
    ]
    if len(found) == 2 and all(n and 0 <= line.tokens[n].value < 1 for n in found):
        values = [whole(line.tokens[n].value) for n in found]
        line.claim(Reading("adam_betas", values, min(found), max(found)), *found)


def _two(line: Line, at: int) -> None:
    other = line.tokens[at + 2].entry
    found = _numbers(line, at + 3)
    first = line.tokens[at].entry
    if not found or other is None or other.named is None or first is None or first.named is None:
        return
    keys = (first.named.key, other.named.key)
    if all(accepts(key, line.tokens[n]) for key, n in zip(keys, found, strict=True)):
        for key, name, place in zip(keys, (at, at + 2), found, strict=True):
            line.claim(Reading(key.name, in_normal_form(key, line.tokens[place]), name, place), name, place)
