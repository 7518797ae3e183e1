"""Checks the files of patterns: that each message can be found, cheaply, where it stands and nowhere else."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from firstcause.catalog.placeholders import KINDS, expression, literal, matches, opened, parts
from firstcause.catalog.specialists import ROUTES
from firstcause.schema import Pattern, from_plain

SHORTEST = 8
MOST_OPEN = 2
CRITICALITIES = range(1, 7)
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_BRACES = re.compile(r"\{(\w+)\}")


def pattern_faults(
    values: Mapping[str, Any], name: str, causes: Collection[str], patterns: Collection[str]
) -> list[str]:
    """What is wrong with the pattern file ``name`` (without .toml), one line each.

    ``causes`` and ``patterns`` are the slugs that it may name.
    """
    try:
        pattern = from_plain(Pattern, _filled(values), name)
    except ValueError as error:
        return [str(error)]
    return [
        *_names(pattern, name, causes, patterns),
        *_texts(pattern),
        *_messages(pattern),
        *_examples(pattern),
    ]


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with what a file may leave out."""
    given: dict[str, Any] = {
        f.name: [] if f.default == () else f.default
        for f in dataclasses.fields(Pattern)
        if f.default is not dataclasses.MISSING
    }
    rows = values.get("messages", [])
    if isinstance(rows, list):
        rows = [{"versions": "", "source": "", **row} if isinstance(row, dict) else row for row in rows]
    return {**given, **values, "messages": rows}


def _names(pattern: Pattern, name: str, causes: Collection[str], patterns: Collection[str]) -> Iterator[str]:
    if pattern.slug != name:
        yield f"slug {pattern.slug!r} is not the file's name {name!r}"
    if not _SLUG.fullmatch(pattern.slug):
        yield f"slug {pattern.slug!r} is not kebab-case"
    if pattern.specialist not in ROUTES:
        yield f"unknown specialist {pattern.specialist!r}"
    if pattern.criticality not in CRITICALITIES:
        yield f"criticality {pattern.criticality} is not between 1 and 6"
    yield from (f"unknown cause {slug!r}" for slug in pattern.causes if slug not in causes)
    yield from (f"unknown look-alike {slug!r}" for slug in pattern.look_alikes if slug not in patterns)
    if pattern.slug in pattern.look_alikes:
        yield "looks like itself"


def _texts(pattern: Pattern) -> Iterator[str]:
    if not pattern.title or pattern.title.endswith("."):
        yield "title is empty, or ends with a full stop"
    if not pattern.gather:
        yield "gather is empty"
    for text in (pattern.definition, *pattern.do_not):
        if not text.endswith("."):
            yield f"a sentence ends without a full stop: …{text[-30:]}"
    for key in ("causes", "gather", "do_not", "look_alikes", "examples", "look_alike_texts"):
        entries = getattr(pattern, key)
        if len(set(entries)) < len(entries):
            yield f"{key} says the same twice"


def _messages(pattern: Pattern) -> Iterator[str]:
    texts = [message.text for message in pattern.messages]
    yield from (f"message twice: {text}" for text in sorted({t for t in texts if texts.count(t) > 1}))
    for text in texts:
        yield from (
            f"unknown placeholder {{{name}}}: {text}" for name in _BRACES.findall(text) if name not in KINDS
        )
        if len(literal(text)) < SHORTEST:
            yield f"no literal of {SHORTEST} characters: {text}"
        if any(part == "" for part in parts(text)[2:-1:2]):
            yield f"two placeholders touch: {text}"
        if opened(text) > MOST_OPEN:
            yield f"more than {MOST_OPEN} placeholders of open length: {text}"
        re.compile(expression(text))


def _examples(pattern: Pattern) -> Iterator[str]:
    if pattern.messages and not pattern.examples:
        yield "no example that matches"
    if not pattern.look_alike_texts:
        yield "no look-alike text that does not match"
    for text in pattern.examples:
        if not any(matches(message.text, text) for message in pattern.messages):
            yield f"no message matches the example: {text[:60]}"
    for text in pattern.look_alike_texts:
        yield from (
            f"{m.text!r} matches the look-alike: {text[:60]}"
            for m in pattern.messages
            if matches(m.text, text)
        )
