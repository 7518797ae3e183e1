"""The first steps of a training: the rate that rises over them warms up; whatever else is done there ends no training."""

from __future__ import annotations

import re

from firstcause.check.brief.counts import share_of_run, unit_of
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import vocabulary, word_set

_FIRST = frozenset({"first", "initial"})
_LAST = frozenset({"last", "final"})
_OVER = frozenset({"over", "during", "within", "in", "across", "for", "through"})
_RISES = ("ris", "rais", "grow", "climb", "increas", "ramp", "warm")
_GOES = frozenset({"go", "goes", "going", "brought"})
_ENDS = ("stop", "end", "halt", "quit", "finish", "terminat", "abort")
_WARMUPS = frozenset({"warmup", "warmup_steps", "warmup_ratio"})
_CAME = word_set("unwished", "came")
_OF_ALL = word_set("firsts", "of_all")
# "6% of the steps warmup".
_SHARE = re.compile(r"of (?:the |all |its )?(?:\w+ )?(?:steps|updates|iterations|training) warm")
_REACH = 10
_NEAR = 5


def first_steps(line: Line) -> None:
    """Claim "the rate rises over the first 1000 steps", and keep "for the first 500 steps" from being the length."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if (
            token.kind == "number"
            and not token.claimed
            and _SHARE.match(" ".join(line.words(at + 1, at + 6)))
        ):
            share = token.value / 100 if token.unit == "%" else token.value
            if 0 < share < 1:
                last = next(n for n in range(at + 1, at + 6) if "warm" in tokens[n].text)
                line.claim(Reading("warmup_ratio", share, at, last))
                continue
        if token.kind != "number" or token.claimed or not at or token.unit not in ("", "k"):
            continue
        before = tokens[at - 1].text
        first, over = before in _FIRST, before in _OVER
        noun = _unit(tokens, at)
        if not (first or over or before in _LAST) or not (noun or first):
            continue
        if before in ("within", "in") and noun and at > 1 and tokens[at - 2].text in _CAME:
            # "It collapses within 200 steps without warmup".
            token.claimed = tokens[noun].claimed = True
            continue
        verb = _rises(line, at)
        if verb >= 0 and (first or over) and (not noun or unit_of(tokens[noun]) == "steps"):
            _warm_up(line, at, noun, verb)
        elif noun and (first or before in _LAST) and not _ends_there(line, at):
            token.claimed = tokens[noun].claimed = True
            if verb >= 0 and unit_of(tokens[noun]) == "epochs":
                share_of_run(line, noun + 1)


def _unit(tokens: list[Token], at: int) -> int:
    """The place of the steps, or epochs, that are counted, or 0."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    return at + 1 if after is not None and unit_of(after) in ("steps", "epochs") else 0


def _warm_up(line: Line, at: int, noun: int, verb: int) -> None:
    key = vocabulary().keys["warmup_steps"]
    after = line.words(at + 1, at + 2)
    if not accepts(key, line.tokens[at]) or (not noun and after and after[0] not in _OF_ALL):
        return
    places = {at, noun or at}
    if line.tokens[verb].key in _WARMUPS:
        places.add(verb)
    value = in_normal_form(key, line.tokens[at])
    line.claim(Reading("warmup_steps", value, min(at, verb), max(at, noun, verb)), *places)
    _peak(line, at)


def _peak(line: Line, at: int) -> None:
    """Claim the rate up to which it rises: "from 0 to 3e-4 over the first 1000 steps"."""
    tokens = line.tokens
    for place in range(2, len(tokens)):
        token = tokens[place]
        start = tokens[place - 2]
        up = tokens[place - 1].text == "to" and token.kind == "number" and start.kind == "number"
        near = token.statement == tokens[at].statement and abs(place - at) <= _REACH
        if up and near and not token.claimed and not token.unit and start.value < token.value < 1:
            line.claim(Reading("learning_rate", token.value, place, place, settled=True))
            start.claimed = True
            return


def _rises(line: Line, at: int) -> int:
    """The place of the word that says that the rate rises here, or -1: "warm up", "the lr grows", "raise the rate"."""
    tokens = line.tokens
    places = range(max(0, at - _REACH), min(len(tokens), at + _REACH))
    for place in sorted(places, key=lambda n: abs(n - at)):
        token = tokens[place]
        if token.statement != tokens[at].statement or token.claimed:
            continue
        up = token.text in _GOES and "up" in line.words(place + 1, place + 4)
        if token.key in _WARMUPS:
            beside = tokens[place + 1] if place + 1 < len(tokens) else None
            own = beside is not None and beside.kind == "number" and place + 1 != at
            return -1 if own else place
        if (up or token.text.startswith(_RISES)) and _is_of_rate(line, place):
            return place
    return -1


def _is_of_rate(line: Line, verb: int) -> bool:
    """Whether the setting nearest to a word that something rises is the rate, and it rises by no law of a search."""
    tokens = line.tokens
    named = [n for n, t in enumerate(tokens) if t.key and n != verb and abs(n - verb) <= _NEAR]
    named = [n for n in named if unit_of(tokens[n]) == ""]
    if not named or any(t.text.startswith("exponential") for t in tokens):
        return False
    return tokens[min(named, key=lambda n: abs(n - verb))].key == "learning_rate"


def _ends_there(line: Line, at: int) -> bool:
    """Whether the training stops after them: then they are all there are."""
    own = [t for t in line.tokens if t.segment == line.tokens[at].segment]
    return any(t.text.startswith(_ENDS) for t in own)
