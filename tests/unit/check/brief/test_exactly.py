"""Sentences that are read to the last wish, and what the figures of the other files do not show: scopes and arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from firstcause.check.brief import Text, read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SENTENCES: list[dict[str, Any]] = [
    entry
    for name in ("twentythird.toml", "twentyfourth.toml", "twentyfifth.toml")
    for entry in tomllib.loads((Path(__file__).parent / "sentences" / name).read_text(encoding="utf-8"))[
        "sentence"
    ]
]
CHAT = "user: fine-tune bert, batch size 32, lr 1e-4\n\nassistant: Which GPU is it?\n\nuser: {said}"


@pytest.mark.parametrize("entry", SENTENCES, ids=lambda entry: entry["id"])
def test_nothing_more_and_nothing_less(entry: dict[str, Any]) -> None:
    def plain(key: str, value: object, relation: str, polarity: str) -> tuple[str, str, str, str]:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return key, f"{value:g}" if number else str(value), relation, polarity

    found = {
        plain(i.key, i.value, i.relation, i.polarity) for i in read([Text(entry["text"])]) if not i.derived
    }
    wanted = {
        plain(w["key"], w["value"], w.get("relation", "eq"), w.get("polarity", "require"))
        for w in entry["expect"]
    }
    assert found == wanted, entry["text"]


@pytest.mark.parametrize(
    ("said", "most"),
    [
        (
            "RTX 4090. I tried: more than 8 pairs at a time and it is out of memory. the 32 should stay though.",
            8,
        ),
        ("A T4. Anything above 4 texts per step is OOM, but keep the 32.", 4),
        ("4090. 16 at a time is all that fits. We want to stay with the 32.", 16),
    ],
)
def test_a_batch_that_stays_is_that_of_an_update(said: str, most: int) -> None:
    found = {
        (i.key, i.value, i.relation, i.scope) for i in read([Text(CHAT.format(said=said))]) if not i.derived
    }
    assert ("effective_batch_size", 32, "eq", "") in found
    assert ("batch_size", most, "max", "per_device") in found
    assert not {key for key, *_ in found} & {"num_gpus", "seed"}


@pytest.mark.parametrize(
    "said",
    [
        "A 3090. the 32 should stay.",
        "A 3090. Texts with more than 8 pages are left out. keep the 32.",
        "A 3090. Does more than 8 at a time run out of memory?",
    ],
)
def test_without_a_limit_a_batch_stays_what_it_is(said: str) -> None:
    found = [(i.key, i.value, i.relation, i.status) for i in read([Text(CHAT.format(said=said))])]
    assert ("batch_size", 32, "eq", "active") in found
    assert not any(key in ("effective_batch_size", "num_gpus") for key, *_ in found)


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("4 blocks per GPU, no gradient accumulation, 8 GPUs, lr 1e-4", [32]),
        ("batch size 32, no gradient accumulation, 8 GPUs, lr 1e-4", []),
        ("batch size 32, accumulation 2, 8 GPUs, lr 1e-4", [512]),
    ],
)
def test_no_accumulation_is_one_batch_per_update(text: str, total: list[int]) -> None:
    found = read([Text(text)])
    assert [i.value for i in found if i.key == "gradient_accumulation"] in ([1], [2])
    assert [i.value for i in found if i.key == "effective_batch_size"] == total


def test_a_mild_no_to_accumulation_is_a_mild_wish() -> None:
    found = read([Text("batch size 8, no need for gradient accumulation, lr 1e-4")])
    assert [(i.value, i.polarity, i.strength) for i in found if i.key == "gradient_accumulation"] == [
        (1, "require", "should")
    ]


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("lr 1e-4, everything longer than 256 tokens can be cut", "must"),
        ("lr 1e-4, anything beyond 256 tokens may be truncated", "must"),
        ("lr 1e-4, whatever has more than 256 tokens can be chopped off", "must"),
        ("lr 1e-4, texts of 256 tokens are fine", "should"),
    ],
)
def test_what_is_cut_off_is_no_choice(text: str, strength: str) -> None:
    found = [i for i in read([Text(text)]) if i.key == "max_length"]
    assert [(i.value, i.polarity, i.strength) for i in found] == [(256, "require", strength)]


def test_an_aside_about_something_else_weighs_nothing() -> None:
    found = read([Text("lr 3e-4, cosine over the 10 epochs (step it once per epoch is fine)")])
    assert [(i.key, i.strength) for i in found] == [
        ("learning_rate", "must"),
        ("scheduler", "must"),
        ("epochs", "must"),
    ]
