"""What a setting did, which is told and not wished: "packing mixed two dialogues", "colour jitter destroyed the heat tint"."""

from __future__ import annotations

import itertools

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_RUNS = word_set("did", "runs")
_IRREGULAR = word_set("did", "irregular")
# What is set is "limited to", "applied on"; what did something did it to an object.
_OBJECTS = word_set("did", "objects")
_PARTICIPLES = word_set("did", "participles")
_NEVER_AGAIN = (["never", "again"], ["not", "again"], ["never", "ever", "again"])
_KEEPS = frozenset({"keep", "keeping", "use", "take", "want", "need", "with", "switch", "turn", "leave"})
_THAT = frozenset({"it", "that", "this", "them", "those"})
_REACH = 7


def did_something(line: Line, reading: Reading) -> bool:
    """Whether a feature or a way to train is the subject of a verb in the past that has an object."""
    if isinstance(reading.value, (int, float)) and not isinstance(reading.value, bool):
        return False
    after = line.tokens[reading.last + 1 : reading.last + 4]
    if not after or not _is_past(after[0]):
        return False
    if _is_kept(line, reading.last):
        return False
    in_a_run = _in_a_run(line, reading.first)
    with_object = after[0].text not in _PARTICIPLES and words_in(after[1:2])[:1] != []
    return with_object and (in_a_run or _is_object(after[1]))


def of_another_run(line: Line, reading: Reading) -> bool:
    """Whether a size is that of a run which is over: "in the 7B experiment"."""
    after = line.words(reading.last + 1, reading.last + 2)
    before = words_in(line.tokens[max(0, reading.first - 2) : reading.first])
    return reading.key == "model_size_b" and after[:1] != [] and after[0] in _RUNS and "in" in before


def never_again(line: Line, reading: Reading) -> bool:
    """Whether the sentence goes on to say that it is never to be done again: "jitter destroyed the tint, never again"."""
    tokens = line.tokens
    for at in range(reading.last + 1, len(tokens)):
        if words_in(tokens[at : at + 3])[:2] in _NEVER_AGAIN or words_in(tokens[at : at + 3]) in _NEVER_AGAIN:
            between = tokens[reading.last + 1 : at]
            return bool(between) and between[-1].kind == "break" and not any(t.is_setting for t in between)
    return False


def _is_kept(line: Line, at: int) -> bool:
    """Whether the sentence goes on to take it: "bf16 made it stable, please keep that"."""
    words = words_in(line.tokens[at + 1 :])
    return any(a in _KEEPS and b in _THAT for a, b in itertools.pairwise(words))


def _is_past(token: Token) -> bool:
    word = token.text.split()[0] if token.kind == "word" else ""
    return (word.endswith("ed") and len(word) > len("used")) or word in _IRREGULAR


def _is_object(token: Token) -> bool:
    return token.kind in ("number", "quote") or (token.kind == "word" and token.text.split()[0] in _OBJECTS)


def _in_a_run(line: Line, at: int) -> bool:
    """Whether "in the 7B experiment" stands before, and begins the clause."""
    segment = line.tokens[at].segment
    before = words_in(t for t in line.tokens[max(0, at - _REACH) : at] if t.segment == segment)
    return bool(before) and before[-1] in _RUNS and bool({"in", "during", "with"} & set(before[:-1]))
