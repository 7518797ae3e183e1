from __future__ import annotations

import pytest

from firstcause.check.brief import Text, read


def value(text: str, key: str) -> object:
    return next((i.value for i in read([Text(text)]) if i.key == key), None)


@pytest.mark.parametrize(
    "written",
    [
        "2e-4",
        "2E-4",
        "0.0002",
        ".0002",
        "2x10^-4",
        "2\u00d710⁻⁴",
        "2 x 10^-4",
        "2 * 10**-4",
        "0.2e-3",
        "2x10^(-4)",
    ],
)
def test_one_rate_in_many_spellings(written: str) -> None:
    assert value(f"learning rate {written}", "learning_rate") == pytest.approx(2e-4)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("1,000 steps", "max_steps", 1000),
        ("2 000 steps", "max_steps", 2000),
        ("20k steps", "max_steps", 20000),
        ("1.5k steps", "max_steps", 1500),
        ("context of 8k tokens", "max_length", 8192),
        ("10 % warmup", "warmup_ratio", 0.1),
        ("ten percent warmup", "warmup_ratio", 0.1),
        ("twenty-five epochs", "epochs", 25),
        ("a hundred epochs", "epochs", 100),
        ("half an epoch", "epochs", 0.5),
        ("two times ten to the minus five as the learning rate", "learning_rate", 2e-5),
        ("batch size \u0661\u0666", "batch_size", 16),
        ("batch size 0", "batch_size", None),
        ("batch size 1e999", "batch_size", None),
    ],
)
def test_units_and_words(text: str, key: str, expected: object) -> None:
    assert value(text, key) == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize(
    "text",
    [
        "fine-tune meta-llama/Llama-3.1-8B",
        "we use v0.3 of the corpus",
        "the card is an RTX 3090 with 24 GB",
        "it has 60k samples and took 3 hours",
        "transformers 5.24, torch 2.13",
    ],
)
def test_numbers_of_other_things_are_no_settings(text: str) -> None:
    numeric = {"batch_size", "epochs", "max_steps", "learning_rate", "num_labels", "max_length", "seed"}
    assert not {i.key for i in read([Text(text)])} & numeric


def test_a_number_has_one_meaning() -> None:
    found = read([Text("global batch 256")])
    assert [(i.key, i.value) for i in found] == [("effective_batch_size", 256)]
