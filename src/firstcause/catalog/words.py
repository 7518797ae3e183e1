"""The words in which people tell of failures, as data: kinds of words, and the phrases that weigh for each label."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from firstcause.catalog.toml import read
from firstcause.catalog.wording import stem
from firstcause.errors import KnowledgeError

_HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = os.path.join(_HERE, "words")
INDEX = os.path.join(_HERE, "words.json")
ADVICE = os.path.join(_HERE, "advice.toml")
KINDS = os.path.join(WORDS, "kinds")
# What a phrase may ask for beside words: code in the text, sizes of numbers, and with @ a pattern whose message is in it.
PRESENT = frozenset({"CODE", "NUMBER", "BIG", "PERCENT", "LOWPERCENT"})
_COMPILE = "python -m firstcause.catalog.compile"


@dataclass(frozen=True)
class Vocabulary:
    """Kinds of words, such as MEMORY or GROW, by the words that belong to them, and the longest Chinese or Japanese word.

    ``single`` holds stems, ``prefixes`` the beginnings of inflected and compound words, ``several`` the words of more
    than one part under their first part, ``unspaced`` those of scripts without spaces.
    """

    single: dict[str, list[str]]
    prefixes: dict[str, list[str]]
    several: dict[str, list[tuple[list[str], str]]]
    unspaced: dict[str, list[str]]
    shortest_prefix: int
    longest_unspaced: int


class Feature(NamedTuple):
    """A phrase that weighs for a label: parts that may stand anywhere, each of elements that follow one another.

    The elements of a part follow one another, or stand in one clause in any order where the first of them is "~". An
    element is the alternatives for one word: kinds in capitals, stems, beginnings with a star, and what the text
    holds beside words (CODE, or @ and a pattern).
    """

    label: str
    text: str
    weight: float
    parts: Sequence[Sequence[Sequence[str]]]


class Features:
    """The features of a group, each found by the words that its first element asks for."""

    def __init__(self, features: Sequence[Feature] = ()) -> None:
        self.all = features
        self._by_first: dict[str, list[int]] = {}
        for at, feature in enumerate(features):
            part = feature.parts[0]
            for term in part[1 if part[0][0] == "~" else 0]:
                self._by_first.setdefault("*" if term[-1] == "*" else term, []).append(at)

    def possible(self, terms: Iterable[str]) -> list[Feature]:
        """Those whose first element may be among the terms, in their order."""
        found = {at for term in terms for at in self._by_first.get(term, ())}
        return [self.all[at] for at in sorted(found.union(self._by_first.get("*", ())))]


NONE = Features()


@dataclass(frozen=True)
class Words:
    """The vocabulary, the features by group, those of code, and the closed list of advice as plain values.

    Groups: pattern, about, context, claim, mood, appeal, complaint, worry, lost, ambiguous, scope, and asked (for an advice).
    """

    vocabulary: Vocabulary
    features: dict[str, Features]
    code: tuple[Feature, ...]
    advice: dict[str, Any]


@functools.cache
def load_words(index: str = INDEX) -> Words:
    """All words of the catalogue; raises ``KnowledgeError`` where the index cannot be used."""
    try:
        with open(index, encoding="utf-8") as file:
            plain: dict[str, Any] = json.load(file)
        groups = {name: Features(tuple(map(Feature._make, rows))) for name, rows in plain["features"].items()}
        code = tuple(Feature(label, text, weight, ()) for label, text, weight in plain["code"])
        return Words(Vocabulary(**plain["vocabulary"]), groups, code, plain["advice"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise KnowledgeError("words-unreadable", f"{index}: {error}", _COMPILE) from error


def compiled(folder: str = WORDS) -> str:
    """The index of the TOML files in ``folder``, as it is stored; raises ``KnowledgeError`` for a phrase that does not fit."""
    kinds: dict[str, Any] = {}
    for name in sorted(os.listdir(KINDS)):
        kinds |= read(os.path.join(KINDS, name))
    features: dict[str, list[list[Any]]] = {}
    code: list[list[Any]] = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".toml"):
            continue
        for group, labels in read(os.path.join(folder, name)).items():
            for label, phrases in labels.items():
                for text, weight in phrases.items():
                    if group == "code":
                        code.append([label, text, weight])
                    else:
                        features.setdefault(group, []).append(
                            [label, text, weight, _parts(text, kinds, name)]
                        )
    advice = read(ADVICE)
    for name, entry in advice["warned"].items():
        for text in entry.pop("asked", ()):
            features.setdefault("asked", []).append([name, text, 1, _parts(text, kinds, "advice.toml")])
    _add_literals(kinds, features)
    plain = {"vocabulary": _vocabulary(kinds), "features": features, "code": code, "advice": advice}
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _parts(text: str, kinds: dict[str, Any], name: str) -> list[list[list[str]]]:
    # "A ~ B" stands for both in one clause in any order: an unordered part begins with an element of its own.
    cut = [part.split() for part in text.split("&")]
    parts = [
        [["~"], *(e.split("|") for e in part if e != "~")] if "~" in part else [e.split("|") for e in part]
        for part in cut
    ]
    for word in (w for part in parts for element in part for w in element):
        if word.isupper() and word.isascii() and word not in kinds and word not in PRESENT:
            raise KnowledgeError(
                "words-invalid", f"{name}: {text!r} names {word}, which the vocabulary lacks", _COMPILE
            )
    if not all(parts):
        raise KnowledgeError("words-invalid", f"{name}: {text!r} has an empty part", _COMPILE)
    return [[[_element(word) for word in element] for element in part] for part in parts]


def _element(word: str) -> str:
    if word.isupper() or word[0] in "@~" or ("_" in word and word[-1] != "*"):
        return word
    # A beginning is compared with stems, which have lost a last e.
    return word[:-1].rstrip("e") + "*" if word[-1] == "*" else stem(word)


def _add_literals(kinds: dict[str, Any], features: dict[str, list[list[Any]]]) -> None:
    """Make known what a phrase spells out: words of scripts without spaces, where a run is cut, and words joined by _."""
    words = {
        w
        for rows in features.values()
        for row in rows
        for part in row[3]
        for element in part
        for w in element
    }
    kinds["SPELT"] = {"zh": " ".join(sorted(w for w in words if "\u3040" <= w[0] <= "\u9fff"))}
    kinds.update({w: {"en": w} for w in sorted(words) if "_" in w})


def _vocabulary(kinds: dict[str, Any]) -> dict[str, Any]:
    single: dict[str, list[str]] = {}
    prefixes: dict[str, list[str]] = {}
    several: dict[str, list[tuple[list[str], str]]] = {}
    unspaced: dict[str, list[str]] = {}
    for kind, languages in kinds.items():
        for language, entries in languages.items():
            for entry in entries.split():
                if language in ("zh", "ja"):
                    unspaced.setdefault(entry, []).append(kind)
                elif entry.endswith("*"):
                    prefixes.setdefault(entry[:-1], []).append(kind)
                elif "_" in entry:
                    first, *rest = [stem(part) for part in entry.split("_")]
                    several.setdefault(first, []).append((rest, kind))
                else:
                    single.setdefault(stem(entry), []).append(kind)
    return {
        "single": single,
        "prefixes": prefixes,
        "several": several,
        "unspaced": unspaced,
        "shortest_prefix": min(map(len, prefixes), default=0),
        "longest_unspaced": max(map(len, unspaced), default=0),
    }
