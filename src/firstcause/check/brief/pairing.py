"""Numbers to the words that name them, in both orders: the nearest wins, and a number has one meaning."""

from __future__ import annotations

from firstcause.check.brief.fits import fits
from firstcause.check.brief.limits import LIMITS, is_denied_limit, limit
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.values import in_normal_form
from firstcause.check.brief.vocabulary import Named, word_set
from firstcause.schema.instruction import Relation

# A pair may lie this far apart, in costs of the words between; and a window bounds the search.
FARTHEST = 4.0
_WINDOW = 12
_GAIN = 5.0
_SAYS_HOW = {*LIMITS, "should"}
_LINKS = word_set("pairing", "links")
_BARE = word_set("pairing", "bare")
_REPLACED = frozenset({"not", "and not", "instead of", "rather than", "in place of"})


def pair(line: Line) -> None:
    """Claim every number that a word of a key explains."""
    for number, name in _best(line):
        token, word = line.tokens[number], line.tokens[name]
        assert word.entry is not None
        named = word.entry.named
        assert named is not None
        if token.kind == "range":
            _range(line, number, name, named)
            continue
        if named.key.aside:
            token.claimed = word.claimed = True
            continue
        first, last = min(number, name), max(number, name)
        relation = named.relation or limit(line, first, last, number)
        if named.key.bound == "eq" and relation == "max":
            relation = "eq"
        reading = Reading(
            named.key.name, in_normal_form(named.key, token), first, last, relation, named.scope
        )
        reading.settled = is_denied_limit(line, first, last)
        line.claim(reading, number, name)
        _take_scope(line, reading, number)


def _take_scope(line: Line, reading: Reading, number: int) -> None:
    """Let "batch 2 per device" have the scope that its second name tells."""
    entry = line.tokens[number + 1].entry if number + 1 < len(line.tokens) else None
    if entry is None or entry.named is None or line.tokens[number + 1].claimed or reading.scope:
        return
    if entry.named.key.name == reading.key and entry.named.scope:
        reading.scope = entry.named.scope
        line.tokens[number + 1].claimed = True


def _range(line: Line, number: int, name: int, named: Named) -> None:
    token = line.tokens[number]
    first, last = min(number, name), max(number, name)
    ends: tuple[tuple[float, Relation], ...] = ((token.value, "min"), (token.upper, "max"))
    for value, relation in ends:
        reading = Reading(named.key.name, whole(value), first, last, relation, named.scope)
        line.claim(reading, number, name)


def _best(line: Line) -> list[tuple[int, int]]:
    """The pairs (number, name) that explain the most at the least cost; pairs do not overlap."""
    tokens = line.tokens
    given_up = _given_up(line)
    size = len(tokens)
    score = [0.0] * (size + 1)
    back: list[tuple[int, int, int] | None] = [None] * (size + 1)
    for end in range(size):
        score[end + 1], back[end + 1] = score[end], None
        if not _takes_part(tokens[end]) or end in given_up:
            continue
        cost_between = 0.0
        for start in range(end - 1, max(-1, end - _WINDOW), -1):
            if start in given_up:
                continue
            if _takes_part(tokens[start]):
                number, name = (start, end) if tokens[start].kind in ("number", "range") else (end, start)
                fitting = fits(line, number, name) and not _is_anothers(line, number, name)
                total = cost_between + _order(line, number, name) if fitting else FARTHEST + 1
                if total <= FARTHEST:
                    gain = score[start] + _GAIN - total
                    if gain > score[end + 1]:
                        score[end + 1], back[end + 1] = gain, (start, number, name)
            cost_between += _cost(tokens[start])
            if cost_between > FARTHEST:
                break
    pairs = []
    at = size
    while at > 0:
        found = back[at]
        if found is None:
            at -= 1
        else:
            pairs.append((found[1], found[2]))
            at = found[0]
    return pairs[::-1]


def _is_anothers(line: Line, number: int, name: int) -> bool:
    """Whether a comma parts a number with a word of its own from a name with one: "gamma 0.99, gradient norm at 10"."""
    tokens = line.tokens
    if not 0 < number < name or tokens[number + 1].text != ",":
        return False
    before = tokens[number - 1]
    owned = before.kind == "word" and before.entry is None and len(before.text) > 2
    own = [t for t in tokens[name + 1 : name + 5] if t.segment == tokens[name].segment]
    return owned and before.text not in _LINKS and any(t.kind == "number" and not t.claimed for t in own)


def _takes_part(token: Token) -> bool:
    if token.claimed:
        return False
    return token.kind in ("number", "range") or (
        token.entry is not None
        and token.entry.named is not None
        and token.entry.named.key.kind not in ("switch", "choice", "place", "list")
    )


def _given_up(line: Line) -> frozenset[int]:
    """The places of "instead of 32" where another number came before: they part nothing and have no name of their own."""
    tokens = line.tokens
    return frozenset(
        place
        for at in range(2, len(tokens))
        if tokens[at].kind == "number"
        and tokens[at - 1].text in _REPLACED
        and tokens[at - 2 - (tokens[at - 2].text in ("and", ","))].kind == "number"
        and not tokens[at].claimed
        for place in (at - 2, at - 1, at)
        if tokens[place].kind != "number" or place == at
    )


def _order(line: Line, number: int, name: int) -> float:
    """What the order of a pair costs: "3 epochs", "lr 1e-4" and anything with "=" are natural."""
    entry = line.tokens[name].entry
    assert entry is not None
    assert entry.named is not None
    named = entry.named
    if name < number:
        between = line.words(name + 1, number)
        if between and between[0] in _BARE:
            return 0.0
        return 1.0 if named.count else 0.0
    return (0.0 if number + 1 == name else 1.5) if named.count else 0.5 if number + 1 == name else 1.0


def _cost(token: Token) -> float:
    if token.kind == "break":
        return {",": 3.0, ":": 0.0, "(": 1.0, ")": 1.0}.get(token.text, 5.0)
    if token.kind == "join":
        return 0.0 if token.text in ("=", "~", "<", "<=", ">", ">=", "+", "≤", "≥") else 2.5
    if token.kind in ("number", "range"):
        return 4.0
    if token.claimed:
        return 2.0
    if token.kind == "word":
        if token.text in _LINKS or (token.entry and token.entry.cues & _SAYS_HOW):
            return 0.0
        if token.text in ("and", "or", "but", "then"):
            return 2.5
        return 2.0 if token.entry is not None and token.entry.named else 1.0
    return 2.0
