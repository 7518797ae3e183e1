"""Schemas and samples of JSON in prose: what stands in them is the form of an answer, and no setting."""

from __future__ import annotations

import re

from firstcause.check.brief.normal import normal
from firstcause.check.brief.vocabulary import Vocabulary, words_of

# A field and its colon, which prose in braces has not; nothing longer is searched.
_FIELD = re.compile(r"[\"'`]([\w -]{1,60})[\"'`]\s*:")
_LONGEST = 2000
_BRACE = re.compile(r"[{}]")


def without_schemas(text: str, known: Vocabulary) -> str:
    """The text with JSON blanked, as long as it was; JSON that holds settings stays."""
    parts: list[str] = []
    at = 0
    for first, last in _objects(text):
        fields = _FIELD.findall(text, first, last)
        if fields and not any(_is_setting(field, known) for field in fields):
            parts += [text[at:first], re.sub(r"[^\n]", " ", text[first:last])]
            at = last
    return "".join([*parts, text[at:]])


def _objects(text: str) -> list[tuple[int, int]]:
    """Where braces open and close, those within others left out, in order."""
    found: list[tuple[int, int]] = []
    open_at: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            open_at.append(match.start())
        elif open_at:
            first = open_at.pop()
            if match.end() - first > _LONGEST:
                continue
            while found and found[-1][0] > first:
                found.pop()
            found.append((first, match.end()))
    return found


def _is_setting(field: str, known: Vocabulary) -> bool:
    entry = known.phrases.get(words_of(normal(field)))
    return entry is not None and entry.named is not None
