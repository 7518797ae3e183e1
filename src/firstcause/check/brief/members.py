"""Classes that are counted after they are named: "Multi-label emotions: 28 of them", "one folder per disease, 38 in all"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import vocabulary, word_set

_ALL_OF_THEM = ("of them", "in all", "in total", "altogether", "all in all", "all told", "in number")
_FOLDERS = word_set("members", "folders")
_THINGS = word_set("members", "things")
_MULTI = word_set("members", "multi")
_THERE_ARE = frozenset({"there", "are", "is", "about", "we", "have", "with", "currently", "of", "which"})
_BREAKS = frozenset({",", ":", "(", "—"})
_CHOICE = frozenset({"several", "some", "any", "one", "many", "more"})
_MOST = 10_000
_REACH = 5


def counted_members(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Claim the count of classes that stands after their name, and the task where a text may have several.

    ``heard`` may hold the task: only then a folder for each "type" is one for each class.
    """
    if line.scene.inference:
        return
    multi = _multi_label(line)
    sorts = any(r.key == "task" for r in (*heard, *line.readings)) or any(
        t.gives("task") for t in line.tokens
    )
    if any(r.key == "num_labels" for r in line.readings):
        return
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed or token.unit or token.value != int(token.value):
            continue
        if 2 <= token.value <= _MOST and (_counts_them(line, at, multi, sorts) or _chosen_of(line, at)):
            line.claim(Reading("num_labels", whole(token.value), at, at))
            return


def _multi_label(line: Line) -> bool:
    """Whether "multi-label" says what is trained; "multi-label is not needed" does not."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        joined = token.text == "multi" and line.words(at + 1, at + 2)[:1] in (["label"], ["labels"])
        if token.text not in ("multilabel", "multi label") and not joined:
            continue
        last = at + joined
        after = tokens[last + 1] if last + 1 < len(tokens) else None
        named = after is not None and (after.has("labels") or after.text in _MULTI)
        if named and not any(r.key == "task" for r in line.readings) and line.scene.training:
            line.readings.append(Reading("task", "classification", at, last))
        return named
    return False


def _counts_them(line: Line, at: int, multi: bool, sorts: bool) -> bool:
    following = " ".join(words_in(line.tokens[at + 1 : at + 4]))
    if not following.startswith(_ALL_OF_THEM):
        return False
    place = at - 1
    while place >= 0 and line.tokens[place].text in _THERE_ARE:
        place -= 1
    if place < 1 or line.tokens[place].text not in _BREAKS:
        return False
    return _folder_of_each(line, place - 1, sorts) or _named_classes(line, place - 1, multi)


def _folder_of_each(line: Line, noun: int, sorts: bool) -> bool:
    """Whether a class has a folder: "one folder per disease", but not "one folder per patient"."""
    tokens = line.tokens
    own = tokens[max(0, noun - _REACH) : noun]
    folder = any(t.text in _FOLDERS for t in own) and any(t.has("every") for t in own)
    return folder and (_is_class(tokens[noun]) or (sorts and tokens[noun].text in _THINGS))


def _is_class(token: Token) -> bool:
    """Whether a noun, one of them or several, is that of classes."""
    if token.has("labels"):
        return True
    plural = vocabulary().phrases.get((f"{token.text}s",))
    return plural is not None and "labels" in plural.cues


def _named_classes(line: Line, noun: int, multi: bool) -> bool:
    """Whether classes stand before the count where things are told apart: "by species (there are 45 of them)"."""
    tokens = line.tokens
    if not tokens[noun].has("labels") or line.words(noun - 1, noun) in (["with"], ["have"], ["and"]):
        return False
    told_apart = any(t.gives("task") for t in tokens) and any("classif" in t.text for t in tokens)
    return multi or told_apart


def _chosen_of(line: Line, at: int) -> bool:
    """Whether several of that many may hold: "Multi-label topics, a document can have several of the 40"."""
    tokens = line.tokens
    before = words_in(tokens[max(0, at - 3) : at])
    choice = any(a in _CHOICE and b == "of" for a, b in pairwise(before)) and before[-1:] == ["the"]
    ends = at + 1 >= len(tokens) or tokens[at + 1].kind == "break"
    return choice and ends and any(t.has("labels") for t in tokens[:at]) and line.scene.training
