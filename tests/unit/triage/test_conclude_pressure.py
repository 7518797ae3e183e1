"""Pressure changes neither the action, nor the route, nor the patterns; it is answered with one line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressures import ALL, PRESSURES
from told_by import asks, holds_only_claims, plan, triaged

from firstcause.catalog.index import indexed

# A text in which only a claim names a symptom has nothing to hold against another claim.
TEXTS = [ask.text for ask in asks() if not holds_only_claims(ask.text)] + [
    "my model does not work\nI use torch 2.4",
    "RuntimeError: CUDA error: device-side assert triggered. It comes in one of 20 requests. We serve a BERT.",
    "OOM at step 40. Batch 8 on a 24 GB card. The model has 300M parameters.",
]
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
KINDS = {
    "haste",
    "authority",
    "social-proof",
    "theory",
    "certainty",
    "remedy",
    "sunk-cost",
    "fatigue",
    "guess",
    "minimising",
}


def inserted(text: str, sentence: str, place: int) -> str:
    """The text with a sentence between two of its own, on a line of its own."""
    parts = SENTENCE.split(text)
    at = place % (len(parts) + 1)
    return "\n".join([*parts[:at], sentence, *parts[at:]])


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(TEXTS), st.sampled_from(ALL), st.integers(0, 5))
def test_pressure_anywhere_changes_nothing(text: str, sentence: str, place: int) -> None:
    bare = "\n".join(SENTENCE.split(text))
    assert plan(triaged(inserted(text, sentence, place))) == plan(triaged(bare))


@pytest.mark.slow
@pytest.mark.parametrize("sentence", ALL)
def test_each_pressure_before_and_behind_each_question(sentence: str) -> None:
    for text in TEXTS[::6]:
        assert plan(triaged(f"{sentence}\n{text}")) == plan(triaged(text)), text
        assert plan(triaged(f"{text}\n{sentence}")) == plan(triaged(text)), text


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_answered_with_a_counter(kind: str) -> None:
    counters = {entry["counter"] for entry in indexed("excuses").values()}
    for sentence in PRESSURES[kind]:
        answer = triaged(f"the loss is nan after 100 steps\n{sentence}").answered
        assert answer in counters, sentence
        assert "!" not in answer


def test_there_are_sentences_of_every_kind() -> None:
    assert set(PRESSURES) == KINDS
    assert len(set(ALL)) >= 60


def test_without_pressure_nothing_is_answered() -> None:
    assert triaged("the loss is nan after 100 steps").answered is None


def test_a_deadline_gets_a_stop_gap_that_is_called_no_fix() -> None:
    calm = triaged("device-side assert triggered, one request of 20")
    hasty = triaged("device-side assert triggered, one request of 20\nWe have a demo in 20 minutes.")
    assert calm.stop_gap is None
    assert hasty.stop_gap is not None
    assert hasty.stop_gap.startswith("No fix")
    assert triaged("which laptop should I buy? It is urgent.").stop_gap is None


def test_a_workaround_that_is_asked_for_is_warned_against() -> None:
    triage = triaged(
        "illegal memory access in one of 100 batches\nCan I wrap it in try/except and skip the bad batches?"
    )
    assert "hide-with-try-except" in triage.warned
    assert "hide-with-try-except" not in triage.advice


def test_a_theory_alone_is_no_symptom_beside_a_complaint() -> None:
    assert triaged("my model does not work\nEverybody knows that PyTorch leaks memory.").action == "clarify"
    assert triaged("my model does not work\nI think the loss is nan because of Adam.").patterns == ()
