"""Several batches that make one update: "128 per update as two half batches of 64", "two batches of 64 per update"."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_SEVERAL = word_set("updates", "several")
_SIZED = word_set("updates", "sized")
_UPDATES = word_set("updates", "updates") - {"weights", "optimizer"}
_REACH = 2
_OF = frozenset({"of", "with", "a"})


def several_batches(line: Line) -> None:
    """Claim the size of several batches, and their number where they make an update whose size is not said."""
    for at, token in enumerate(line.tokens):
        size = _size_after(line, at) if _counts(token) and token.value >= 2 else 0
        if size:
            _taken(line, at, size)


def _taken(line: Line, at: int, size: int) -> None:
    tokens = line.tokens
    own = [n for n, t in enumerate(tokens) if t.statement == tokens[at].statement]
    if any(tokens[n].key == "gradient_accumulation" for n in own):
        # "Accumulate two batches of 64": the count has its word.
        return
    entry = next(t.entry for t in tokens[at + 1 : size] if t.text in _SEVERAL)
    scope = entry.named.scope if entry is not None and entry.named is not None else ""
    line.claim(Reading("batch_size", whole(tokens[size].value), at + 1, size, scope=scope))
    update = [n for n in own if tokens[n].key == "effective_batch_size" or tokens[n].text in _UPDATES]
    total = tokens[at].value * tokens[size].value
    told = any(
        n not in (at, size) and _counts(tokens[n]) and tokens[n].value % total == 0
        for place in update
        for n in own
        if abs(n - place) <= _REACH
    )
    if update and not told:
        line.claim(Reading("gradient_accumulation", whole(tokens[at].value), at, at), at, *update)
    tokens[at].claimed = True


def _size_after(line: Line, at: int) -> int:
    """The place of the 64 in "two half batches of 64", or 0."""
    tokens = line.tokens
    noun = at + 1
    while noun < len(tokens) and tokens[noun].text in _SIZED:
        noun += 1
    if noun >= len(tokens) or tokens[noun].text not in _SEVERAL:
        return 0
    size = noun + 1
    if not tokens[noun].text.endswith(" of"):
        if size >= len(tokens) or tokens[size].text not in _OF:
            return 0
        size += 1
    return size if size < len(tokens) and _counts(tokens[size]) else 0


def _counts(token: Token) -> bool:
    """Whether a token is a whole number that nothing has explained."""
    plain = token.kind == "number" and not token.unit and not token.claimed
    return plain and token.value == int(token.value) and token.value >= 1
