"""Speakers by name and time of day: "**Jonas** 10:02", "[10:41] Jonas:", "Jonas (10:41):"; and a name that opens a chat."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.check.brief.vocabulary import vocabulary, words_of

# What assistants are called; any word of a name tells.
ASSISTANT = r"assistant|ai|bot|chatgpt|claude|gpt-?\d?\w*|copilot|gemini|model|agent|llm|answer|a"
_TIME = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]m)?"
_DATE = r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:\d{2,4})?|today|yesterday"
_DAY = rf"(?:(?:{_DATE}|(?:mon|tue|wed|thu|fri|sat|sun)\w{{0,6}}),?(?: at)? )?"
_STAMP = rf"{_DAY}{_TIME}"
_NAME = r"[^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}"
_BOLD = r"(?:\*{1,3}|_{1,2})?"
_AFTER_NAME = (
    rf"{_BOLD}(?P<a>{_NAME}){_BOLD},?[ \t]{{1,4}}(?:[-–—|·@] )?(?P<open>[(\[])?{_STAMP}[)\]]?{_BOLD}"  # noqa: RUF001
)
_BEFORE_NAME = (
    rf"{_BOLD}[(\[]?{_STAMP}[)\]]?{_BOLD},?[ \t]{{0,4}}(?:[-–—|] )?{_BOLD}<?(?P<b>{_NAME})>?{_BOLD}"  # noqa: RUF001
)
_STAMPED = re.compile(
    rf"^[ \t>]*(?:{_AFTER_NAME}|{_BEFORE_NAME})(?:[ \t]*:{_BOLD}|[ \t]*$|(?<=[)\]>*_])(?=[ \t]))",
    re.IGNORECASE | re.MULTILINE,
)
# Of these no heading is made, as is of "Model:" and "Answer:".
_UNMISTAKABLE = re.compile(r"assistant|ai|bot|chatgpt|claude|copilot", re.IGNORECASE)
_OPENS = re.compile(rf"\s*(?:> ?)?(?P<bold>\*{{0,2}})(?P<a>{_NAME})(?:\*\* ?:|:(?:\*\*)?)(?=\s)")


@dataclass(frozen=True)
class Mark:
    """Where the words of a speaker begin: the place of the mark, where it ends, and the name."""

    start: int
    end: int
    who: str


def stamped(content: str) -> list[Mark]:
    """The marks that bear a time of day; a single one only where the text begins with it."""
    marks = [
        Mark(m.start(), m.end(), name)
        for m in _STAMPED.finditer(content)
        if _is_name(name := (m["a"] or m["b"]))
    ]
    if len(marks) < 2 and any(content[: mark.start].strip() for mark in marks):
        return []
    return marks


def opening(content: str, roles: Sequence[Mark]) -> list[Mark]:
    """The lines of whoever opens a chat by a name alone, and speaks again after an assistant among the ``roles``."""
    first = _OPENS.match(content)
    answers = any(_UNMISTAKABLE.fullmatch(mark.who) for mark in roles)
    if first is None or not answers or not _is_name(first["a"]) or is_assistant(first["a"]):
        return []
    bold = re.escape(first["bold"])
    again = re.compile(rf"^[ \t>]*{bold}{re.escape(first['a'])}(?:\*\* ?:|:(?:\*\*)?)(?=\s)", re.MULTILINE)
    marks = [Mark(m.start(), m.end(), first["a"]) for m in again.finditer(content)]
    return marks if len(marks) > 1 else []


def is_assistant(who: str) -> bool:
    """Whether a name is one of an assistant: "assistant", "Claude", "our bot"."""
    return any(
        re.fullmatch(ASSISTANT, word, re.IGNORECASE)
        for word in (who, *re.split(r"[\s-]", who))
        if len(word) > 1
    )


def _is_name(who: str) -> bool:
    """Whether it is no setting: "[10:02] lr: 0.1" is a line of a log."""
    entry = vocabulary().phrases.get(words_of(who))
    return entry is None or (entry.named is None and not entry.values)
