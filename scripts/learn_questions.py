"""Learn the weights of ``triage/learned.py`` from labelled questions.

    python scripts/learn_questions.py [--folds 5]

Reads ``benchmarks/triage/questions.jsonl`` (``text``, ``patterns``, ``action``) and ``pressure.txt`` beside it, prints what
five-fold cross-validation gives at several thresholds (``--folds 0``: not), and writes the weights to
``src/firstcause/catalog/words/learned.json``; some five minutes on one core. Needs numpy and scipy; the product does not.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from firstcause.triage.learned import CLARIFY, HARMLESS, NEED_ERROR, OUT, PATH, weighed
from firstcause.triage.words import understand

QUESTIONS = Path(__file__).parent.parent / "benchmarks/triage/questions.jsonl"
PRESSURE = QUESTIONS.with_name("pressure.txt")
SPECIAL = {"out-of-scope": OUT, "clarify": CLARIFY, "need-error": NEED_ERROR}
LEAST = 2
# Chosen by cross-validation: weaker ones learn the corpus by heart, stronger ones forget rare words.
L2, ROUNDS, RATE = 2e-3, 400, 0.15
# Smaller weights move no answer, and a file that is read for each plain question stays small.
SMALL = 1.0


def main() -> int:
    """Cross-validate, then learn from all and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    args = parser.parse_args()
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines() if line.strip()]
    random.Random(0).shuffle(rows)
    rows = under_pressure(rows)
    seen = [weighed(understand(row["text"])) for row in rows]
    labels = sorted({label for row in rows for label in targets(row)})
    if args.folds:
        validated(rows, seen, labels, args.folds)
    vocabulary, weights, bias = learned(seen, [targets(r) for r in rows], labels)
    table = {
        name: {str(i): round(float(w), 1) for i, w in enumerate(weights[at]) if abs(w) >= SMALL}
        for name, at in vocabulary.items()
    }
    model = {
        "labels": labels,
        "bias": [round(float(b), 3) for b in bias],
        "weights": {name: row for name, row in sorted(table.items()) if row},
    }
    Path(PATH).write_text(
        json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    sys.stdout.write(f"{len(rows)} questions, {len(labels)} labels, {len(model['weights'])} features\n")
    return 0


def under_pressure(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Each question twice, the second time beside a sentence of pressure, so that its words come to weigh nothing."""
    sentences = PRESSURE.read_text(encoding="utf-8").splitlines()
    chance = random.Random(1)
    found = []
    for row in rows:
        said, text = chance.choice(sentences), str(row["text"])
        beside = f"{said}\n{text}" if chance.random() < 0.5 else f"{text}\n{said}"
        found += [row, {**row, "text": beside}]
    return found


def targets(row: dict[str, object]) -> list[str]:
    """The labels of a question: its patterns, or what it is instead."""
    patterns = list(row["patterns"])  # type: ignore[call-overload]
    special = SPECIAL.get(str(row.get("action", "route")))
    return [*patterns, *([special] if special else [])] or [HARMLESS]


def learned(
    seen: list[frozenset[str]], wanted: list[list[str]], labels: list[str]
) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """Weights by gradient descent with momentum on the regularised log loss, all labels at once."""
    counts: dict[str, int] = {}
    for found in seen:
        for name in found:
            counts[name] = counts.get(name, 0) + 1
    vocabulary = {name: i for i, name in enumerate(sorted(n for n, c in counts.items() if c >= LEAST))}
    x = matrix(seen, vocabulary)
    turned = x.T.tocsr()
    y = np.array([[float(label in w) for label in labels] for w in wanted], dtype=np.float32)
    weights, bias = (
        np.zeros((len(vocabulary), len(labels)), np.float32),
        np.full(len(labels), -3.0, np.float32),
    )
    # Few of the questions have a label: those count more, so that it is learned at all.
    share = np.clip(y.mean(0), 1e-3, 1)
    heavier = np.where(y > 0, np.minimum(0.25 / share, 12), 1.0).astype(np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, ROUNDS + 1):
        error = (1 / (1 + np.exp(-(x @ weights + bias))) - y) * heavier / len(seen)
        gradient = turned @ error + L2 * weights / len(labels)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-7)
        bias -= 5.0 * error.sum(0)
    return vocabulary, weights, bias


def matrix(seen: list[frozenset[str]], vocabulary: dict[str, int]) -> csr_matrix:
    """Questions by features; a long text says more words, not more of a symptom."""
    rows = [[vocabulary[name] for name in found if name in vocabulary] for found in seen]
    values = np.repeat(
        [1 / np.sqrt(max(1, len(found))) for found in seen], [len(row) for row in rows]
    ).astype(np.float32)
    starts = np.cumsum([0, *map(len, rows)])
    return csr_matrix((values, [at for row in rows for at in row], starts), (len(seen), len(vocabulary)))


def validated(
    rows: list[dict[str, object]], seen: list[frozenset[str]], labels: list[str], folds: int
) -> None:
    """Print how many answers are right at several thresholds, by cross-validation."""
    probabilities = np.zeros((len(rows), len(labels)))
    for fold in range(folds):
        train = [i for i in range(len(rows)) if i // 2 % folds != fold]
        vocabulary, weights, bias = learned(
            [seen[i] for i in train], [targets(rows[i]) for i in train], labels
        )
        held = [i for i in range(len(rows)) if i // 2 % folds == fold]
        total = matrix([seen[i] for i in held], vocabulary) @ weights + bias
        probabilities[held] = 1 / (1 + np.exp(-total))
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        said = [[labels[j] for j in np.flatnonzero(p >= threshold)] for p in probabilities]
        top = np.mean(
            [
                labels[int(p.argmax())] in targets(r) or not targets(r)
                for p, r in zip(probabilities, rows, strict=True)
            ]
        )
        exact = float(np.mean([set(s) == set(targets(r)) for s, r in zip(said, rows, strict=True)]))
        right = sum(len(set(s) & set(targets(r))) for s, r in zip(said, rows, strict=True))
        precision, recall = (
            right / max(1, sum(map(len, said))),
            right / max(1, sum(len(targets(r)) for r in rows)),
        )
        sys.stdout.write(
            f"threshold {threshold}: top {top:.3f} exact {exact:.3f} precision {precision:.3f} recall {recall:.3f}\n"
        )


if __name__ == "__main__":
    sys.exit(main())
