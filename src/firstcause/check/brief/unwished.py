"""What is no wish although it names a value: what came of a run, a first thought that is taken back, what needs nothing."""

from __future__ import annotations

from firstcause.check.brief.handed_over import of_a_place
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_CAME = word_set("unwished", "came")
_ORDERS = word_set("unwished", "orders")
_THOUGHTS = word_set("unwished", "first_thought")
_PRESUMES = word_set("unwished", "presumes")
_WHOLE_RUNS = word_set("unwished", "whole_runs")
_SEES = word_set("updates", "sees")
# Values that are no share of samples or steps.
_NO_SHARE_OF_DATA = frozenset({"dropout", "label_smoothing", "lora_dropout", "weight_decay"})
_SINGLE = ("step", "iteration", "update")
_OWN = frozenset({"my", "our", "the", "a", "an", "everybodys", "everyones"})
_TURNS = frozenset({"but", "however", "yet", "still", "though", "only"})
# "…, so that.": what stands before is taken, and what is told of it is why.
_SO_TAKEN = (
    ["so", "that"], ["so", "this"], ["so", "those"], ["so", "these"], ["hence", "that"], ["so", "that", "one"],
    ["so", "that", "it", "is"], ["so", "that", "then"], ["hence", "those"], ["therefore", "that"],
)  # fmt: skip


def is_unwished(line: Line, reading: Reading) -> bool:
    """Whether a value is one of these: it is named, and not asked for."""
    return (
        _came_of_it(line, reading)
        or _first_thought(line, reading)
        or _needs_nothing(line, reading)
        or _of_each(line, reading)
        or _of_one_step(line, reading)
        or _missed(line, reading)
        or _default_aside(line, reading)
        or _share_that_is(line, reading)
        or _length_that_is(line, reading)
    )


def _share_that_is(line: Line, reading: Reading) -> bool:
    """Whether a share says how something is: "about 5% of the labels are wrong"."""
    number = next((n for n in (reading.first, reading.last) if line.tokens[n].unit == "%"), -1)
    if number < 0 or reading.key not in _NO_SHARE_OF_DATA:
        return False
    words = line.words(number + 1, number + 6)
    return words[:1] == ["of"] and bool({"are", "is", "were", "was", "have", "has"} & set(words[1:]))


def _length_that_is(line: Line, reading: Reading) -> bool:
    """Whether a length tells of the data: "our samples have about 700 tokens"; "at most 700" is what they must fit in."""
    own = line.tokens[reading.first].segment
    before = words_in(t for t in line.tokens[: reading.first] if t.segment == own)
    return (
        reading.key == "max_length" and reading.relation == "approx" and bool({"have", "has"} & set(before))
    )


def concluded(line: Line, reading: Reading) -> bool:
    """Whether the sentence ends by taking what it tells of: "better with AdamW and lr 2e-3, so that"."""
    tokens = line.tokens
    last = next((n for n in range(len(tokens) - 1, -1, -1) if tokens[n].text == ","), -1)
    if last < 0 or line.words(last + 1, len(tokens)) not in _SO_TAKEN:
        return False
    turn = next((n for n in range(last, -1, -1) if tokens[n].text in _TURNS or tokens[n].text == ";"), -1)
    return turn < reading.first <= last


def is_why(line: Line, at: int) -> bool:
    """Whether what is told here is why it is asked for: "8 per card is what worked for Lea"."""
    if of_a_place(line, at):
        return True
    if line.words(at - 2, at) in (["like", "in"], ["as", "in"]):
        # "32 per update like in the paper" asks for the same.
        return True
    return line.tokens[at].text.startswith("worked") and line.words(at - 2, at) == ["is", "what"]


def _came_of_it(line: Line, reading: Reading) -> bool:
    """Whether a count says how soon something happened: "with eval() it collapsed within two epochs"."""
    if reading.key not in ("epochs", "max_steps"):
        return False
    at = next(
        (n for n in range(reading.first, reading.last + 1) if line.tokens[n].kind == "number"), reading.first
    )
    before = line.tokens[:at]
    while before and before[-1].text in ("the", "first", "only", "about", "less than", "few"):
        before = before[:-1]
    if len(before) < 2 or before[-1].text not in ("within", "in", "inside"):
        return False
    own = [t for t in before[:-2] if t.statement == before[-1].statement and t.segment == before[-2].segment]
    return before[-2].text in _CAME and not any(t.text in _ORDERS for t in own)


def _first_thought(line: Line, reading: Reading) -> bool:
    """Whether it is only where one would begin: "Adam would be my reflex, but …"."""
    tokens = line.tokens
    at = reading.last + 1
    if line.words(at, at + 2) not in (["would", "be"], ["would", "have been"]):
        return False
    end = next((n for n in range(at, len(tokens)) if tokens[n].kind == "break"), len(tokens))
    named = any(t.text.split()[-1] in _THOUGHTS for t in tokens[at + 2 : end])
    whose = at + 2 < end and tokens[at + 2].text.split()[0] in _OWN
    return named and whose and any(t.text in _TURNS for t in tokens[end : end + 3])


def _needs_nothing(line: Line, reading: Reading) -> bool:
    """Whether a "no" is that of a thing which the value does not need: "no gradient scaler is needed for bf16"."""
    tokens = line.tokens
    at = reading.first
    if at < 3 or tokens[at - 1].text != "for" or not isinstance(reading.value, str):
        return False
    start = next((n for n in range(at - 2, max(-1, at - 9), -1) if tokens[n].text in ("no", "none of")), -1)
    between = tokens[start + 1 : at - 1] if start >= 0 else []
    if not between or any(t.kind != "word" for t in between):
        return False
    return not (tokens[start].text == "no" and between[0].text.split()[0] in _PRESUMES)


def _of_each(line: Line, reading: Reading) -> bool:
    """Whether passes are made over one thing, and not over the data: "50 passes per station"."""
    if reading.key != "epochs":
        return False
    tokens = line.tokens
    at = next(
        (
            n
            for n in range(reading.first, min(reading.last + 3, len(tokens)))
            if tokens[n].text in ("pass", "passes")
        ),
        -1,
    )
    each = tokens[at + 1] if 0 <= at < len(tokens) - 2 else None
    if each is None or each.text not in ("per", "for each", "for every", "each"):
        return False
    of = tokens[at + 2]
    return of.kind == "word" and not of.key and of.text not in _WHOLE_RUNS


def _of_one_step(line: Line, reading: Reading) -> bool:
    """Whether a single step is spoken of, and what is in it: "one optimizer step should see 128 of them"."""
    if reading.key != "max_steps" or line.tokens[reading.last].kind != "number":
        return False
    tokens = line.tokens
    at = next((n for n in range(reading.first, reading.last) if tokens[n].key == "max_steps"), -1)
    if at < 1 or not tokens[at].text.endswith(_SINGLE):
        return False
    before = tokens[at - 1 if tokens[at - 1].key != "optimizer" else max(0, at - 2)]
    one = before.text in ("one", "each", "every", "a", "an", "single") or before.has("every")
    return one and any(
        t.kind == "word" and t.text.split()[-1] in _SEES for t in tokens[at + 1 : reading.last]
    )


def _missed(line: Line, reading: Reading) -> bool:
    """Whether it is told what comes of doing without: "it collapses without warmup"."""
    tokens, at = line.tokens, reading.first
    if not at or not tokens[at - 1].text.startswith(("without", "w/o")):
        return False
    return any(t.text in _CAME and t.segment == tokens[at].segment for t in tokens[: at - 1])


def _default_aside(line: Line, reading: Reading) -> bool:
    """Whether it is "(the default of 384 …)" that a parenthesis speaks of."""
    before = words_in(line.tokens[max(0, reading.last - 5) : reading.last])
    return before[-4:] == ["(", "the", "default", "of"]
