"""Values that are named only as a reason: "bf16 because mT5 overflows in fp16" asks for bf16 alone."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set

_OPENS = word_set("reasons", "opens")
_NO_REASON = word_set("reasons", "no_reason")
_REFUSES = frozenset({"want", "use", "must", "avoid"})
# What things do, and nobody is told to.
_DOES = frozenset({"give", "make", "run", "take", "do", "put", "keep", "save", "train", "stop", "write"})
_SELF = frozenset({"i", "we", "you", "please", "to", "must", "should", "shall", "and", "us", "lets", "then"})
# Ways to train: in a reason they are what one turns away from, or what is known of them.
_WAYS = frozenset({"precision", "optimizer", "scheduler", "quantization", "loss", "attn_implementation"})


def is_only_reason(line: Line, reading: Reading) -> bool:
    """Whether a reading lies in a clause that gives a reason for something else."""
    at = _opener(line, reading)
    if at < 0:
        return False
    if any(
        t.has("wish") and not _does(line, at, n) for n, t in enumerate(line.tokens[: reading.first]) if n > at
    ):
        return False
    if any(t.has("not") and set(t.text.split()) & _REFUSES for t in line.tokens[at + 1 : reading.first]):
        # "Because we don't want LoRA" is a wish as well.
        return False
    rival = any(
        other.key == reading.key and other.value != reading.value and not at < other.first < _end(line, at)
        for other in line.readings
    )
    if line.tokens[at].text == "as":
        # "AdamW as optimizer" gives no reason, "SGD as Adam generalised worse" does.
        return rival and reading.last + 1 < _end(line, at)
    return rival or reading.key in _WAYS


def _does(line: Line, opener: int, at: int) -> bool:
    """Whether a verb tells what some things do: "since the outages give silly spikes" wishes for nothing."""
    before = line.tokens[at - 1] if at - 1 > opener else None
    does = line.tokens[at].text in _DOES
    things = before is not None and before.kind == "word" and not (before.has("wish") or before.has("not"))
    return does and before is not None and things and before.text not in _SELF


def _opener(line: Line, reading: Reading) -> int:
    """The place of the word that opens the reason in which a reading stands, or -1."""
    tokens = line.tokens
    for at in range(reading.first - 1, -1, -1):
        token = tokens[at]
        if token.statement != tokens[reading.first].statement and token.text not in _OPENS | {"as"}:
            return -1
        if token.text in _OPENS:
            return at
        if token.text == "as":
            beside = {w for n in (at - 1, at + 1) if 0 <= n < len(tokens) for w in tokens[n].text.split()}
            return -1 if beside & _NO_REASON or at + 3 < reading.first else at
        if token.kind == "break" and token.text in (",", ";", "—", ")"):
            return -1
    return -1


def _end(line: Line, at: int) -> int:
    """The end of the clause that a word opens."""
    segment = line.tokens[at].segment
    return next(
        (n for n in range(at + 1, len(line.tokens)) if line.tokens[n].segment != segment), len(line.tokens)
    )
