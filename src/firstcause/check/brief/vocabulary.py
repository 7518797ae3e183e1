"""The words of people who ask for a training: keys, values, cues and names, from the catalogue."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firstcause.catalog.toml import HERE, read
from firstcause.schema.instruction import Relation, Scope

FOLDER = os.path.join(HERE, "brief")
_SPLIT = re.compile(r"[-_\s]+")


@dataclass(frozen=True)
class Key:
    """What may be said of a key: the kind and bounds of its values, and how its name stands to a number."""

    name: str
    normal: str
    kind: str
    least: float = 0.0
    most: float = float("inf")
    count: bool = False
    feature: bool = False
    bound: str = ""
    group: str = ""
    aside: bool = False


@dataclass(frozen=True)
class Named:
    """A key by one of its names; a name may carry a scope ("per device") or a relation ("4 fit")."""

    key: Key
    scope: Scope = ""
    relation: Relation | None = None
    count: bool = False


@dataclass
class Entry:
    """What a phrase means: a key, values of keys, cues; often several at once."""

    named: Named | None = None
    values: list[tuple[str, str]] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)
    cues: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Vocabulary:
    """All phrases, their lengths by their first word, and how names of models, cards and files look."""

    keys: Mapping[str, Key]
    phrases: Mapping[tuple[str, ...], Entry]
    lengths: Mapping[str, list[int]]
    models: re.Pattern[str]
    cards: re.Pattern[str]
    families: tuple[str, ...]
    file_types: frozenset[str]
    config_types: frozenset[str]
    folders: frozenset[str]
    datasets: frozenset[str]


@functools.cache
def _words() -> dict[str, dict[str, frozenset[str]]]:
    tables = read(os.path.join(FOLDER, "words.toml"))
    return {
        module: {name: frozenset(entries) for name, entries in table.items()}
        for module, table in tables.items()
    }


def word_set(module: str, name: str) -> frozenset[str]:
    """The words that one concern of the grammar asks for; raises ``KnowledgeError`` where the file cannot be read."""
    return _words()[module][name]


def words_of(phrase: str) -> tuple[str, ...]:
    """The words of a phrase as the tokens of a text have them: no hyphens, underscores or apostrophes."""
    return tuple(w for w in _SPLIT.split(phrase.lower().replace("'", "")) if w)


@functools.cache
def vocabulary() -> Vocabulary:
    """The vocabulary; raises ``KnowledgeError`` where a file of it cannot be read."""
    entries: dict[tuple[str, ...], Entry] = {}
    keys = _keys(read(os.path.join(FOLDER, "keys.toml")), entries)
    _values(read(os.path.join(FOLDER, "values.toml")), entries)
    _cues(read(os.path.join(FOLDER, "cues.toml")), entries)
    names = read(os.path.join(FOLDER, "names.toml"))
    lengths: dict[str, set[int]] = {}
    for words in entries:
        lengths.setdefault(words[0], set()).add(len(words))
    return Vocabulary(
        keys,
        entries,
        {word: sorted(found, reverse=True) for word, found in lengths.items()},
        _any(names["models"]),
        _any(names["cards"], "s?"),
        tuple(names["families"]),
        frozenset(names["file_types"]),
        frozenset(names["config_types"]),
        frozenset(names["folders"]),
        frozenset(names["datasets"]),
    )


def _any(patterns: list[str], plural: str = "") -> re.Pattern[str]:
    """One of the patterns as a whole name."""
    return re.compile(rf"(?:{'|'.join(patterns)}){plural}(?![\w/])")


def _keys(tables: Mapping[str, Any], entries: dict[tuple[str, ...], Entry]) -> dict[str, Key]:
    keys = {}
    for name, table in tables.items():
        plain = {
            k: table[k]
            for k in ("normal", "kind", "least", "most", "count", "feature", "bound", "group", "aside")
            if k in table
        }
        keys[name] = key = Key(name, **plain)
        for part in (table, *(t for t in table.values() if isinstance(t, dict))):
            named = Named(key, part.get("scope", ""), part.get("relation"), part.get("count", key.count))
            for phrase in part.get("words", ()):
                entries.setdefault(words_of(phrase), Entry()).named = named
    return keys


def _values(tables: Mapping[str, Any], entries: dict[tuple[str, ...], Entry]) -> None:
    for key, table in tables.items():
        for value, phrases in table.items():
            if key == "beside":
                for bare, texts in phrases.items():
                    for text in texts:
                        entries.setdefault(words_of(text), Entry()).beside.append((value, bare))
                continue
            for phrase in phrases:
                entries.setdefault(words_of(phrase), Entry()).values.append((key, value))


def _cues(tables: Mapping[str, Any], entries: dict[tuple[str, ...], Entry]) -> None:
    for cue, phrases in tables.items():
        if cue == "model_kind":
            for value, texts in phrases.items():
                for text in texts:
                    entries.setdefault(words_of(text), Entry()).beside.append((cue, value))
            continue
        for phrase in phrases:
            entry = entries.setdefault(words_of(phrase), Entry())
            entry.cues |= {cue}
