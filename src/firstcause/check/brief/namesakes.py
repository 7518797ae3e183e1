"""Words that look like a value and mean something else: greedy episodes, a colleague Dora, negative sampling, a plateau."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_OF_AN_AGENT = word_set("namesakes", "of_an_agent")
_FALLS = ("fall", "drop", "decay", "anneal", "decreas", "shrink", "go", "rise", "ris", "grow", "increas")
_OF_THE_RATE = frozenset({"rate", "lr", "schedule", "scheduler", "it", "optimizer", "optimiser"})
_OWN = word_set("namesakes", "own_schedules")
_DORA = re.compile(r"\bDora\b")
_ADAPTS = re.compile(r"\b(?:adapter|rank|peft|lora|alpha)", re.IGNORECASE)
_DEFAULTS = frozenset({"default", "defaults"})
_SAMPLES_DATA = word_set("choices", "samples_data")
_ALONG = (["from"], ["off"], ["along"], ["during"])
_REACH = 3


def is_namesake(line: Line, at: int, key: str, value: str) -> bool:
    """Whether a word that could be a value of a key is none here."""
    tokens = line.tokens
    if key == "do_sample":
        # "Play greedy episodes"; "no negative sampling".
        after = words_in(tokens[at + 1 : at + 2])
        of_agent = not line.scene.inference and bool(after) and after[0] in _OF_AN_AGENT
        return of_agent or bool(at and tokens[at - 1].text in _SAMPLES_DATA)
    if key == "framework" and at + 1 < len(tokens) and tokens[at + 1].text in _DEFAULTS:
        # "0.88 of the memory, not vLLM's default".
        return any(t.has("not") for t in tokens[max(0, at - _REACH) : at])
    if value == "dora":
        # "So that Dora can change them".
        typed = line.sentence.text
        return bool(_DORA.search(typed)) and not _ADAPTS.search(typed)
    if tokens[at].text == "plateau" and _of_a_curve(line, at):
        return True
    return key == "scheduler" and _falls_itself(line, at)


def _of_a_curve(line: Line, at: int) -> bool:
    """Whether "the plateau" is a part of a curve, and no schedule: "branch from the plateau" of another one."""
    other = any(t.gives("scheduler") for n, t in enumerate(line.tokens) if n != at)
    return line.words(at - 1, at) == ["the"] and (other or line.words(at - 2, at - 1) in _ALONG)


def _falls_itself(line: Line, at: int) -> bool:
    """Whether what goes down is no rate: "epsilon falls linearly from 1 to 0.05"."""
    own = [t for t in line.tokens[:at] if t.segment == line.tokens[at].segment]
    words = words_in(own)
    falls = line.tokens[at].text.startswith(_FALLS) or any(w.startswith(_FALLS) for w in words)
    return falls and bool(_OWN & set(words)) and not _OF_THE_RATE & set(words_in(line.tokens))
