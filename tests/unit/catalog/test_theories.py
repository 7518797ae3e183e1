from __future__ import annotations

import importlib.util
import time

import pytest

from firstcause.catalog import load
from firstcause.catalog.suspects import suspects
from firstcause.catalog.theories import MOST, theories, theories_in_report

LR, CLIP, BN = "learning-rate-too-high", "exploding-gradient", "batch-normalisation"


def ids(text: str) -> list[str]:
    return [t.id for t in theories(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the learning rate is too high", [LR]),
        ("LR too large", [LR]),
        ("too big a learning rate", [LR]),
        ("I should lower the lr", [LR]),
        ("too low learning rate", ["learning-rate-too-low"]),
        ("batchnorm is broken", [BN]),
        ("Batch Normalization, I guess", [BN]),
        ("it's nn.BatchNorm1d", [BN]),
        ("corrupt batch", ["nan-in-data"]),
        ("exploding gradients", [CLIP]),
        ("the gradients explode", [CLIP]),
        ("need clipping", [CLIP]),
        ("gradients are not clipped", [CLIP]),
        ("padding", ["padding"]),
        ("out of memory", ["memory"]),
        ("OOM", ["memory"]),
        ("log of zero in the loss, or dropout", ["log-of-zero", "dropout"]),
        # A doubt is a theory, a denial none, and of two clauses each counts for itself.
        ("it is not the learning rate", []),
        ("I don't think it is the padding, it's BatchNorm", [BN]),
        ("BatchNorm is not the problem", []),
        ("the padding is fine", []),
        ("the padding is not fine", ["padding"]),
        ("I am not sure whether dropout is the culprit", ["dropout"]),
        ("not the lr but the momentum", ["optimizer-momentum"]),
        # Whether is a theory; how and why are not.
        ("is the learning rate too high?", [LR]),
        ("isn't it the dropout?", ["dropout"]),
        ("how do I lower the learning rate?", []),
        ("why is the learning rate printed twice?", []),
        ("the cat did it", []),
        ("", []),
    ],
)
def test_words_to_causes(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


def test_a_theory_keeps_the_words_of_its_clause() -> None:
    found = theories("Loss is nan, but  the LR\n(3e-3) isn't too small; maybe Dropout?")
    assert [(t.id, t.text) for t in found] == [("dropout", "maybe Dropout")]


REPORT = """BatchNorm ruins my training

Since I added it the loss is huge. I use dropout 0.1. Clipping at 1.0 and LayerNorm removed: same.
It cannot be the
learning rate, I think. Is the padding wrong?
How large should the batch size be?

    epoch 1 momentum too high 0.5
    epoch 2 loss nan
RuntimeError: out of memory, maybe
"""


def test_a_report_holds_suspicions_among_what_was_done_and_seen() -> None:
    assert [(t.id, t.text) for t in theories_in_report(REPORT)] == [
        (BN, "BatchNorm ruins my training"),
        ("padding", "Is the padding wrong"),
    ]


def test_a_report_names_at_most_so_many() -> None:
    text = ". ".join(f"I suspect {s.said[0]}" for s in suspects().values())
    assert len(theories_in_report(text)) == MOST


def test_every_phrase_is_found_again() -> None:
    claims = {slug: entry.said for slug, entry in load().items()} | {n: s.said for n, s in suspects().items()}
    lost = [(name, said) for name, phrases in claims.items() for said in phrases if not theories(said)]
    assert lost == []
    # Where two claim the same words the cause has them; but nothing may lose all of its words.
    assert [n for n, phrases in claims.items() if phrases and not any(n in ids(p) for p in phrases)] == []


def test_every_change_is_an_intervention() -> None:
    for name, suspect in suspects().items():
        assert bool(suspect.change) != bool(suspect.untested), name
        if suspect.change:
            assert importlib.util.find_spec(f"firstcause.lab.interventions.{suspect.change}"), name
    assert not set(suspects()) & set(load())


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["padding ", "a", "1", "it is not ", "I think the lr is too high. ", "learning rate, ", "n't", "(", "\n"],
)
def test_linear_in_the_length(unit: str) -> None:
    ids("warm up")
    took = []
    for size in (20_000, 160_000):
        text = unit * (size // len(unit))
        began = time.process_time()
        theories(text)
        theories_in_report(text)
        took.append(time.process_time() - began)
    # Eight times the text; quadratic would be sixty-four times.
    assert took[1] < 40 * max(took[0], 0.02)
