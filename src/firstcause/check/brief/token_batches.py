"""Batches that are counted in tokens, and runs whose length is counted in steps: neither is the length of a sequence."""

from __future__ import annotations

from firstcause.check.brief.counts import unit_of
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_FRAMES = word_set("token_batches", "frames")
_SAMPLES = word_set("token_batches", "samples")
_EQUALS = word_set("token_batches", "equals")
_OF_BATCH = frozenset({"batch_size", "effective_batch_size"})
_BETWEEN = frozenset(
    {"of", "is", "=", ":", "to", "be", "should be", "size", "about", "around", "roughly", "a"}
)
_IS = frozenset({":", "is", "=", "of", "should be", "about", "the run"})
_FEWEST = 2


def token_batches(line: Line) -> None:
    """Leave "half a million tokens per step" and claim the 64 in "(= 64 blocks)", which is the batch in samples."""
    _length_of_run(line)
    for at, token in enumerate(line.tokens):
        if token.kind == "number" and not token.claimed and _counts_tokens(line, at):
            last = _frame(line, at)
            if last:
                for own in line.tokens[at : last + 1]:
                    own.claimed = True
                _in_samples(line, last + 1)
            elif _is_product(line, at):
                token.claimed = line.tokens[at + 1].claimed = True
        elif token.kind == "number" and not token.claimed and _cut_into_pieces(line, at):
            line.claim(Reading("max_length", whole(token.value), at, at + 1))


def _counts_tokens(line: Line, at: int) -> bool:
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    return after is not None and after.text in ("tokens", "token")


def _cut_into_pieces(line: Line, at: int) -> bool:
    """Whether pieces of words are counted where it is said at which length texts are cut: "cut at 128, so 384 pieces"."""
    cut = any(t.key == "max_length" for t in line.tokens[:at])
    return cut and line.words(at + 1, at + 2) == ["pieces"] and _is_count(line.tokens[at])


def _frame(line: Line, at: int) -> int:
    """The last place of "tokens per step" behind a number, or of the tokens in "a batch of 0.5M tokens"; 0 for others."""
    tokens = line.tokens
    of_sample = at > 0 and (tokens[at - 1].text.endswith(" of") or tokens[at - 1].text in ("x", "*", "times"))
    counted = at > 1 and tokens[at - 1].text == "of" and tokens[at - 2].text.split()[0] in _SAMPLES
    if of_sample or counted:
        # "64 sequences of 2048 tokens per step".
        return 0
    if at + 2 < len(tokens) and tokens[at + 2].text in _FRAMES:
        return at + 2
    place = at - 1
    while place > 0 and tokens[place].text in _BETWEEN:
        place -= 1
    return at + 1 if place >= 0 and tokens[place].key in _OF_BATCH else 0


def _in_samples(line: Line, first: int) -> None:
    """Claim the 64 of "exactly 524,288 = 64 blocks", "(64 sequences of 8192)" behind a batch of tokens."""
    tokens = line.tokens
    for at in range(first, len(tokens) - 1):
        if tokens[at].text in _FRAMES or tokens[at].key not in ("", "max_length"):
            return
        if tokens[at].kind != "number" or tokens[at].claimed:
            continue
        if _is_count(tokens[at]) and tokens[at + 1].text.split()[0] in _SAMPLES:
            value = whole(tokens[at].value)
            line.claim(Reading("effective_batch_size", value, at, at, settled=True), at)
            return
        if tokens[at + 1].text not in _EQUALS:
            return
        # The same number of tokens, exactly.
        tokens[at].claimed = True


def _is_product(line: Line, at: int) -> bool:
    """Whether so many tokens are what two numbers before them make: "64 sequences of 2048, i.e. 131,072 tokens"."""
    tokens = line.tokens
    if not at or not any(t.text in _EQUALS or t.text == "so" for t in tokens[max(0, at - 3) : at]):
        return False
    counts = [t.value for t in tokens[:at] if _is_count(t)]
    return any(a * b == tokens[at].value for n, a in enumerate(counts) for b in counts[n + 1 :])


def _is_count(token: Token) -> bool:
    return (
        token.kind == "number"
        and not token.unit
        and token.value == int(token.value)
        and token.value >= _FEWEST
    )


def _length_of_run(line: Line) -> None:
    """Let "length: 6,000 optimizer steps" be a number of steps."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.text not in ("length", "length of"):
            continue
        number = at + 1
        while number < len(tokens) and tokens[number].text in _IS:
            number += 1
        counted = number + 1 < len(tokens) and tokens[number].kind == "number"
        if counted and unit_of(tokens[number + 1]) in ("steps", "epochs"):
            token.entry = None
