"""Counts of steps and epochs that belong to something else: saving, evaluating, warming up, waiting, accumulating."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import vocabulary, word_set

_UNITS = word_set("counts", "units")
_BETWEEN = word_set("counts", "between")
_NEGATED = word_set("counts", "negated")
_SORTS_OF_EPOCH = word_set("counts", "sorts_of_epoch")
_WAITS = frozenset({"early_stopping_patience", "early_stopping"})
# "Stop after 3 bad epochs".
_BAD = frozenset({"bad", "stagnant", "flat", "unsuccessful", "failed"})
# What waits for a curve to rest, so that the count is a patience.
_WAITED_FOR = (
    "stop", "patien", "abort", "give up", "gives up", "end the", "once", "as soon as", "when", "if ",
)  # fmt: skip
_IN_A_ROW = frozenset({"in", "a", "row"})
_RUNS = frozenset({"run", "training", "schedule", "whole", "total"})
_STANDS_STILL = ("stagnat", "stall", "plateau", "flat")
# What a metric does, or fails to do, while one waits.
IMPROVES = (
    "stagnat",
    "stall",
    "plateau",
    "flat",
    "improv",
    "risen",
    "rise",
    "grow",
    "fallen",
    "fall",
    "gone down",
    "go down",
    "gone up",
    "go up",
    "better",
    "decreas",
    "increas",
    "lower",
    "higher",
    "drop",
    "gain",
    "budge",
    "moved",
    "progress",
)


def owned_counts(line: Line) -> None:
    """Claim "warm up over the first 500 steps" and "no improvement for 3 evaluations"."""
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed:
            continue
        if noun := _noun_of(line, at):
            _owned(line, at, noun)
        if not token.claimed and _without_gain(line, at):
            _claim(line, "early_stopping_patience", at, ())


def _without_gain(line: Line, at: int) -> bool:
    """Whether one stops after so many that bring nothing: "early stopping after 8 without improvement"."""
    following = line.tokens[at + 1 : at + 8]
    after = [t for t in following if unit_of(t) != "evaluations" and t.text not in _IN_A_ROW][:4]
    denied = any(t.has("not") and t.segment == after[0].segment for t in after[:2])
    in_vain = denied and any(t.text.startswith(IMPROVES) for t in after[1:])
    before = [t for t in line.tokens[:at] if t.statement == line.tokens[at].statement]
    stops = any("stop" in t.text for t in before) or "give up" in " ".join(words_in(before))
    return in_vain and not line.tokens[at].unit and stops


def share_of_run(line: Line, first: int) -> None:
    """Claim the 10 % of "warm up over the first 10 epochs (10 % of the run)"."""
    for at in range(first, min(first + 4, len(line.tokens) - 2)):
        token = line.tokens[at]
        if token.kind == "number" and token.unit == "%" and line.tokens[at + 1].text == "of":
            whole = [t for t in line.tokens[at + 2 : at + 5] if t.kind != "break"]
            if not token.claimed and any(unit_of(t) or t.text in _RUNS for t in whole):
                _claim(line, "warmup_ratio", at, ())
            return


def unit_of(token: Token) -> str:
    """ "epochs", "steps" or "evaluations" where the token is a unit of that kind."""
    if token.entry is not None and token.entry.named is not None:
        return {"epochs": "epochs", "max_steps": "steps"}.get(token.entry.named.key.name, "")
    return "evaluations" if token.text in _UNITS else ""


def _noun_of(line: Line, at: int) -> int:
    """The place of the unit that a number counts, as in "3 epochs" and "3 bad epochs"; 0 where there is none."""
    for place in range(at + 1, min(at + 3, len(line.tokens))):
        if unit_of(line.tokens[place]):
            return place
        if line.tokens[place].text not in _SORTS_OF_EPOCH:
            return 0
    return 0


def _has_been(line: Line, place: int, at: int) -> bool:
    """Whether it is told when a curve came to rest, and nothing waits for that: "was flat after 6 epochs"."""
    over = {"was", "were", "went", "became"} & set(line.words(max(0, place - 2), place))
    said = " ".join(words_in(line.tokens))
    waits = any(w in said for w in _WAITED_FOR)
    return bool(over) and place < at and not waits and line.tokens[at - 1].text in ("after", "by", "at")


def _owned(line: Line, at: int, noun: int) -> None:
    number, unit = line.tokens[at], unit_of(line.tokens[noun])
    if _BAD & set(line.words(at + 1, noun)) and any(t.text.startswith("stop") for t in line.tokens):
        _claim(line, "early_stopping_patience", at, (noun,))
        return
    for place in _near(line, at):
        token = line.tokens[place]
        name = token.key
        if token.claimed or _has_own_number(line, place, at) or not _linked(line, place, at):
            continue
        improves = (token.text.startswith(IMPROVES) and not name) or token.text in (
            "gone",
            "go",
            "goes",
            "get",
            "got",
        )
        if improves and _has_been(line, place, at):
            continue
        if (improves and _fails(line, place)) or name in _WAITS:
            _claim(line, "early_stopping_patience", at, (noun, place) if name else (noun,))
            if improves:
                # What has not dropped is waited for, and not told: "has not got better".
                token.entry = None
                for beside in line.tokens[max(0, place - 3) : place]:
                    beside.entry = None if beside.has("told") else beside.entry
            return
        if name in ("warmup", "warmup_steps"):
            if place > at and line.tokens[place - 1].has("not"):
                # "Within 200 steps without warmup" is when something happens.
                continue
            if unit == "steps":
                _claim(line, "warmup_steps", at, (noun, place))
            elif unit == "epochs":
                # No key has it, and it is no count of epochs to train.
                for n in (at, noun, place):
                    line.tokens[n].claimed = True
                share_of_run(line, noun + 1)
            return
        if name == "gradient_accumulation" and unit != "epochs" and number.value > 0:
            _claim(line, "gradient_accumulation", at, (noun, place))
            return


def _fails(line: Line, place: int) -> bool:
    """Whether a metric fails to do what the word says: "no improvement", "does not go down", "stagnates"."""
    if line.tokens[place].text.startswith(_STANDS_STILL):
        return True
    before = line.tokens[max(0, place - 4) : place]
    return any(t.has("not") or t.text in _NEGATED for t in before)


def _has_own_number(line: Line, place: int, at: int) -> bool:
    """Whether another number stands right beside an owner."""
    beside = (n for n in (place - 1, place + 1) if 0 <= n < len(line.tokens) and n != at)
    return any(line.tokens[n].kind == "number" and line.same_segment(n, place) for n in beside)


def _near(line: Line, at: int) -> list[int]:
    """The places around a count, the nearest first, within its sentence."""
    reach = [n for n in range(max(0, at - 9), min(len(line.tokens), at + 8)) if n not in (at, at + 1)]
    return sorted(reach, key=lambda n: (abs(n - at), n))


def _linked(line: Line, place: int, at: int) -> bool:
    """Whether only small words lie between an owner and its count."""
    first, last = (place + 1, at) if place < at else (at + 2, place)
    return all(t.text in _BETWEEN | _NEGATED or t.gives("metric") for t in line.tokens[first:last])


def _claim(line: Line, key: str, at: int, also: tuple[int, ...]) -> None:
    number = line.tokens[at]
    if accepts(vocabulary().keys[key], number):
        reading = Reading(
            key, in_normal_form(vocabulary().keys[key], number), min((at, *also)), max((at, *also))
        )
        reading.settled = key == "early_stopping_patience"
        line.claim(reading, at, *also)
