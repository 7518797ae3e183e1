"""Values of another moment than the training's: from a later epoch on, where a model is only used, of several that are tried."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_CHANGING = frozenset({"learning_rate", "batch_size", "effective_batch_size", "weight_decay", "max_length"})
_BEGINS = frozenset({"after", "from", "at", "starting", "in", "for", "during"})
# "For 10 epochs" is how long it takes, and "for the last 10 epochs" is when.
_LAST = frozenset({"last", "final", "remaining"})
_ORDINALS = _LAST | {"first", "second", "third", "fourth", "fifth", "tenth"}
_COUNTED = ("epoch", "step", "iteration")
_HALF = frozenset({"halfway", "midway"})
_EACH = frozenset({"each", "every", "one"})
_FILLERS = frozenset({"only", "again", "right", "then", "just", "here", "there"})
_REACH = 5
_OFF_IN_USE = frozenset({"dropout", "augmentation"})
_LINKS = frozenset({"at", "when", "while", "during", "in", "for", "on", "under", "whenever"})
_IN_USE = word_set("refine", "evaluates") | {
    "evaluating", "validating", "inference", "predict", "predicting", "prediction", "generation", "generating", "serving",
}  # fmt: skip
_TRIES = frozenset({"compare", "comparing", "sweep", "sweeping", "ablate"})
_JOINS = frozenset({",", "and", "or", "/", "vs", "versus"})


def is_of_another_moment(line: Line, reading: Reading) -> bool:
    """Whether a value is none of the training's: of evaluation, or one of several that are compared."""
    return _is_off_in_use(line, reading) or _is_tried(line, reading)


def is_later(line: Line, reading: Reading) -> bool:
    """Whether a value holds from later on: "lr 1e-5 after the second epoch", "from epoch 10 on use lr 1e-5"."""
    if reading.key not in _CHANGING or reading.polarity != "require":
        return False
    tokens = line.tokens
    behind = reading.last + 1
    while behind < len(tokens) and tokens[behind].text in _FILLERS:
        behind += 1
    statement = tokens[reading.first].statement
    start = next(n for n, t in enumerate(tokens) if t.statement == statement)
    return _is_moment(tokens, behind) or (
        start < reading.first and _is_moment(tokens[: reading.first], start)
    )


def _is_moment(tokens: list[Token], at: int) -> bool:
    """Whether what begins at a place says from when on: "after 5 epochs", "halfway through"."""
    if at >= len(tokens):
        return False
    if tokens[at].text in _HALF:
        return True
    if tokens[at].text not in _BEGINS:
        return False
    near = tokens[at + 1 : at + 1 + _REACH]
    end = next((n for n, t in enumerate(near) if t.text.startswith(_COUNTED)), -1)
    own = near[: end + 1] if end >= 0 else []
    # The number stands before its noun, or behind it: "5 epochs", "epoch 5".
    numbers = any(t.kind == "number" for t in near[: end + 2])
    words = {w for t in own for w in t.text.split()}
    if not own or any(t.kind == "break" for t in own) or words & _EACH:
        return False
    noun = [w for t in near[: end + 2] for w in t.text.split()]
    if "of" in noun or any(w.startswith("warm") for w in noun):
        # "After 500 steps of warmup".
        return False
    if tokens[at].text in ("for", "in", "during"):
        return bool(words & _LAST)
    return numbers or bool(words & _ORDINALS)


def _is_off_in_use(line: Line, reading: Reading) -> bool:
    """Whether something is off only where a model is used: "no dropout at inference", "dropout off when you evaluate"."""
    if reading.key not in _OFF_IN_USE or reading.polarity != "forbid":
        return False
    behind = line.tokens[reading.last + 1 : reading.last + 1 + 2 * _REACH]
    end = next((n for n, t in enumerate(behind) if t.kind == "break"), len(behind))
    words = [w for t in behind[:end] for w in t.text.split()]
    return any(w in _IN_USE and _LINKS & set(words[max(0, n - 3) : n]) for n, w in enumerate(words))


def _is_tried(line: Line, reading: Reading) -> bool:
    """Whether a value is one of several, of which none is the one: "compare batch sizes 16, 32 and 64"."""
    tokens = line.tokens
    statement = tokens[reading.first].statement
    own = [n for n, t in enumerate(tokens) if t.statement == statement]
    tries = any(set(tokens[n].text.split()) & _TRIES for n in own if n < reading.first)
    places = range(max(0, reading.first - 2), reading.last + 1)
    return tries and any(_goes_on(line, n, reading.key) for n in places)


def _goes_on(line: Line, at: int, key: str) -> bool:
    """Whether a number is followed by another one of its list: "16, 32", "32 and 64"."""
    tokens = line.tokens
    if at + 2 >= len(tokens) or tokens[at + 1].text not in _JOINS:
        return False
    behind = tokens[at + 3] if at + 3 < len(tokens) else None
    if behind is not None and behind.kind == "word" and behind.text not in _JOINS:
        # "Batch size 32, 4 workers".
        return False
    others = {r.key for r in line.readings if r.first <= at <= r.last or r.first <= at + 2 <= r.last}
    return tokens[at].kind == tokens[at + 2].kind == "number" and others <= {key}
