"""Negation, strength, conditions, and what is told, asked or judged."""

from __future__ import annotations

import pytest

from firstcause.check.brief import Text, read
from firstcause.schema.instruction import Instruction


def one(text: str, key: str, value: object = None) -> Instruction:
    return next(i for i in read([Text(text)]) if i.key == key and value in (None, i.value))


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("no LoRA, batch size 8", {"batch_size"}, {"method"}),
        ("without Lightning, Trainer or accelerate", set(), {"framework"}),
        ("not only bf16", {"precision"}, set()),
        ("don't forget the seed 3", {"seed"}, set()),
        ("packing is not needed", set(), {"packing"}),
        ("fp16: no", set(), {"precision"}),
    ],
)
def test_the_scope_of_a_negation(text: str, wanted: set[str], unwanted: set[str]) -> None:
    found = read([Text(text)])
    assert {i.key for i in found if i.polarity == "require"} == wanted
    assert {i.key for i in found if i.polarity == "forbid"} == unwanted


@pytest.mark.parametrize(
    ("text", "key", "strength"),
    [
        ("3 epochs", "epochs", "must"),
        ("ideally 3 epochs", "epochs", "should"),
        ("around 3 epochs", "epochs", "should"),
        ("the Trainer is fine", "framework", "should"),
        ("fp16 is ok", "precision", "may"),
        ("the lr should be 1e-4", "learning_rate", "must"),
        ("gradient checkpointing isn't needed", "gradient_checkpointing", "should"),
    ],
)
def test_strength(text: str, key: str, strength: str) -> None:
    assert one(text, key).strength == strength


def test_a_condition_is_kept() -> None:
    assert "fits" in one("batch size 32 if it fits", "batch_size").condition


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("at most 4 epochs", "max"),
        ("4 epochs or fewer", "max"),
        ("at least 4 epochs", "min"),
        ("about 4 epochs", "approx"),
        ("4 epochs", "eq"),
    ],
)
def test_limits(text: str, relation: str) -> None:
    assert one(text, "epochs").relation == relation


@pytest.mark.parametrize(
    "text",
    [
        "In the paper they use lr 1e-3.",
        "The old run had batch size 64.",
        "Is lr 1e-4 better?",
        "Not sure whether bf16 or fp16.",
        "16 sequences per step is a lot.",
        "```python\nlr = 1e-4\nimport torch\n```",
    ],
)
def test_what_is_no_wish(text: str) -> None:
    assert read([Text(text)]) == []


@pytest.mark.parametrize(
    "text", ["Could you set the lr to 1e-4?", "Please use lr 1e-4?", "Hi, can you train with lr 1e-4?"]
)
def test_a_request_may_end_in_a_question_mark(text: str) -> None:
    assert one(text, "learning_rate").value == 1e-4


def test_settings_in_a_fence_count() -> None:
    assert one("Use this:\n```yaml\nlearning_rate: 1e-4\n```\n", "learning_rate").value == 1e-4
