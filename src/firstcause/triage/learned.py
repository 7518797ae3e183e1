"""A weighing of words that was learned from written questions: asked only where the words' own rules name nothing.

One logistic regression a label over what clauses say (words, pairs of words, kinds of words, signs). Features and weights are
data, made by ``scripts/learn_questions.py`` from ``benchmarks/triage/questions.jsonl``; ``--why`` shows the heaviest of them.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from firstcause.catalog.toml import HERE
from firstcause.triage.clauses import Clause
from firstcause.triage.words import Understood

PATH = os.path.join(HERE, "words", "learned.json")
# Labels that are no patterns: what a text is about, or lacks.
OUT, CLARIFY, NEED_ERROR, HARMLESS = "OUT-OF-SCOPE", "CLARIFY", "NEED-ERROR", "HARMLESS"
SHOWN = 4
# Scripts without spaces: neighbouring characters stand for words.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,40}")


@dataclass(frozen=True)
class Guess:
    """A label with its probability, and the features that weighed most for it."""

    label: str
    probability: float
    because: tuple[tuple[str, float], ...]


@functools.cache
def _model() -> dict[str, object]:
    with open(PATH, encoding="utf-8") as file:
        loaded: dict[str, object] = json.load(file)
    return loaded


def features(clauses: Sequence[Clause], signs: Iterable[str] = ()) -> frozenset[str]:
    """What is weighed: each word and kind of the clauses, neighbours in pairs, and the labels that the rules' signs name."""
    found = {f"#{sign}" for sign in signs}
    for clause in clauses:
        terms = [term for _, _, term in clause.items]
        found.update(terms)
        words = ["<n>" if word[:1].isdigit() else word for word in clause.words]
        found.update(f"{one} {other}" for one, other in itertools.pairwise(words))
        found.update(
            f"{one}_{other}" for one, other in itertools.pairwise(terms) if one.isupper() or other.isupper()
        )
        found.update(run[i : i + 2] for run in _UNSPACED.findall(clause.text) for i in range(len(run) - 1))
        if clause.asks:
            found.add("?")
    return frozenset(found)


def weighed(understood: Understood) -> frozenset[str]:
    """The features of what a question tells, its claims, its pressure and its small talk left out."""
    signs = (
        f"{group}:{label}"
        for group, found in understood.groups.items()
        for label, (total, _) in found.items()
        if total >= 1
    )
    return features(understood.told.spoken, signs)


def guesses(found: frozenset[str]) -> list[Guess]:
    """Every label with its probability, the likeliest first."""
    model = _model()
    labels: Sequence[str] = model["labels"]  # type: ignore[assignment]
    bias: Sequence[float] = model["bias"]  # type: ignore[assignment]
    weights: Mapping[str, Mapping[str, float]] = model["weights"]  # type: ignore[assignment]
    totals = list(bias)
    # A long text says more words, not more of a symptom.
    length = 1 / math.sqrt(max(1, len(found)))
    counted: list[list[tuple[str, float]]] = [[] for _ in labels]
    for feature in found:
        for index, weight in weights.get(feature, {}).items():
            totals[int(index)] += weight * length
            counted[int(index)].append((feature, weight * length))
    order = sorted(range(len(labels)), key=lambda i: -totals[i])
    return [
        Guess(
            labels[i], 1 / (1 + math.exp(-totals[i])), tuple(sorted(counted[i], key=lambda c: -c[1])[:SHOWN])
        )
        for i in order
    ]
