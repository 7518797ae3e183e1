"""What waits for a loss that stands still: the schedule ("halve the rate when …") or the end ("stop when …")."""

from __future__ import annotations

from firstcause.check.brief.counts import IMPROVES, unit_of
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_LOWERS = (*sorted(word_set("choices", "cut") - {"split"}), "drop", "shrink", "decreas", "halv", "divid")
_WHEN = frozenset({"when", "once", "whenever", "if", "after"})
_ENDS = ("stop", "early", "abort", "quit", "halt", "terminat", "end")
_BEST = frozenset({"best", "highest", "lowest", "top"})
_REACH = 5
_BEFORE_VERB = frozenset({",", "then", "please", "we", "i", "is", "gets", "be"})
_LINKS = frozenset({"for", "of", "on", "in", "the", "(", "with", "a", "to", "its"})


def on_plateau(line: Line) -> None:
    """Claim "halve the rate when the validation loss stalls"; what is waited for there ends no training."""
    tokens = line.tokens
    lowers = _lowers(line)
    known = [r for r in line.readings if r.key == "scheduler" and r.value == "plateau"]
    other = any(r.key == "scheduler" for r in line.readings) and not known
    if not lowers or other:
        return
    at = lowers[0]
    first = at if any(t.text in _WHEN for t in tokens[at:]) else 0
    waits = any(t.text.startswith(IMPROVES) for t in tokens[first:])
    measured = any(t.gives("metric") or t.key == "loss" or t.text.endswith("error") for t in tokens)
    if not (known or (waits and measured)):
        return
    line.readings[:] = [r for r in line.readings if not _of_schedule(line, r)]
    for reading in known:
        # What it is lowered upon is waited for, and not told.
        reading.settled = True
    if not known:
        line.readings.append(Reading("scheduler", "plateau", at, at, settled=True))


def patience_of_schedule(line: Line) -> None:
    """Leave a plateau schedule its patience: "ReduceLROnPlateau with patience 3"."""
    if any(r.value == "plateau" and r.key == "scheduler" and r.polarity == "require" for r in line.readings):
        line.readings[:] = [r for r in line.readings if not _of_schedule(line, r)]
        stops = any(r.key.startswith("early_stopping") for r in line.readings)
        if not stops and not _BEST & set(words_in(line.tokens)):
            # What the schedule watches picks no checkpoint.
            line.readings[:] = [r for r in line.readings if r.key != "metric_for_best"]


def _lowers(line: Line) -> list[int]:
    """The places where it is the rate that is lowered, upon something."""
    tokens = line.tokens
    if not any(w in ("rate", "lr") for w in words_in(tokens)):
        return _lowers_it(line)
    first = next((n for n, t in enumerate(tokens) if t.text in _WHEN), len(tokens))
    return [
        n
        for n, t in enumerate(tokens)
        if t.text.startswith(_LOWERS)
        and (any(o.text in _WHEN for o in tokens[n:]) or _then(tokens, first, n))
    ]


def _lowers_it(line: Line) -> list[int]:
    """The place of "halve it when …" where the rate was given before: "Adam, start at 3e-4 and halve it when"."""
    tokens = line.tokens
    return [
        n
        for n, t in enumerate(tokens[:-2])
        if t.text.startswith(_LOWERS)
        and tokens[n + 1].text in ("it", "this", "that")
        and any(o.text in _WHEN for o in tokens[n + 2 :])
        and _rate_before(tokens, n)
    ]


def _rate_before(tokens: list[Token], at: int) -> bool:
    """Whether the last number before a place is a rate, by its size and by the optimizer, or the rate, beside it."""
    number = next((n for n in range(at - 1, -1, -1) if tokens[n].kind == "number"), -1)
    if number < 0 or tokens[number].unit or not 0 < tokens[number].value < 1:
        return False
    named = next((t for t in reversed(tokens[:number]) if t.is_setting), None)
    between = any(t.is_setting for t in tokens[number + 1 : at])
    return named is not None and not between and (named.gives("optimizer") or named.key == "learning_rate")


def _then(tokens: list[Token], first: int, at: int) -> bool:
    """Whether a verb opens what follows a condition: "if the loss stalls, halve the rate"."""
    before = tokens[at - 1] if at else None
    opens = before is not None and (before.text.split()[-1] in _BEFORE_VERB or bool(unit_of(before)))
    return first < at and opens


def _of_schedule(line: Line, reading: Reading) -> bool:
    """Whether a patience is that of the schedule: the rate is lowered nearest before it, and no training ended."""
    if reading.key != "early_stopping_patience":
        return False
    tokens = line.tokens
    lowers = _lowers(line)
    if any(_ends_at(tokens, n) for n in range(reading.first, reading.last + 1)):
        return False
    for place in range(reading.first - 1, -1, -1):
        if _ends_at(tokens, place):
            return False
        if place in lowers or tokens[place].gives("scheduler"):
            return True
    after = reading.last + 1
    while after < len(tokens) and tokens[after].text in _LINKS:
        after += 1
    then = any(after <= place <= after + _REACH for place in lowers)
    return then or (after < len(tokens) and tokens[after].gives("scheduler"))


def _ends_at(tokens: list[Token], at: int) -> bool:
    """Whether the training ends there: "stops improving" is what a loss does."""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return _ends(tokens[at]) and not (tokens[at].text.startswith("stop") and after.startswith(IMPROVES))


def _ends(token: Token) -> bool:
    return token.text.startswith(_ENDS) or token.text in ("give", "give up", "gives up")
