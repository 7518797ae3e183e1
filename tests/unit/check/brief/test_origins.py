"""Comments, requirement files, arithmetic and contradictions."""

from __future__ import annotations

import pytest

from firstcause.check.brief import Text, contradictions, is_reason, read, speaks_for_user


@pytest.mark.parametrize(
    "comment",
    [
        "# notes from Ana: keep lr at 1e-4",
        "# please use batch size 8",
        "# SPEC: 3 epochs",
        "# TODO(user): seed 7",
        "# must be bf16",
    ],
)
def test_comments_that_speak_for_the_user(comment: str) -> None:
    assert speaks_for_user(comment)
    assert read([Text(comment, "train.py", "comment", 12)])[0].line == 12


@pytest.mark.parametrize(
    "comment",
    [
        "# 4 x 8 = 32 sequences per step",
        "# lr 1e-4 because 1e-3 diverged",
        "# DEVIATION: batch size 4, since 16 does not fit",
        "# one shard for each of the 2 GPUs",
    ],
)
def test_other_comments_are_no_wishes(comment: str) -> None:
    assert read([Text(comment, "train.py", "comment")]) == []


def test_reasons() -> None:
    assert is_reason("# batch size 4, because 16 does not fit into 12 GB")
    assert not is_reason("# the training loop")
    assert not is_reason("# please use AdamW because we always do")


def test_requirements() -> None:
    content = "transformers>=5.20, <6  # please keep bf16\ntrl>=1.10\nbitsandbytes\n-r other.txt\ntorch==2.13.0+cpu ; python_version > '3.9'\n"
    found = read([Text(content, "requirements.txt", "requirements")])
    assert [(i.key, i.value, i.line) for i in found] == [("precision", "bf16", 1)]


def test_the_effective_batch_follows() -> None:
    found = read([Text("batch size 2 with 16 accumulation steps on 4 GPUs")])
    assert [(i.key, i.value) for i in found if i.derived] == [("effective_batch_size", 128)]


def test_the_accumulation_follows() -> None:
    found = read([Text("effective batch 64, 4 per device on 2 GPUs")])
    assert [(i.key, i.value) for i in found if i.derived] == [("gradient_accumulation", 8)]


def test_what_only_fits_gives_no_accumulation() -> None:
    assert not [i for i in read([Text("effective batch size 64, but only 4 fit on the card")]) if i.derived]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4 per device, accumulation 4, effective batch 64, one GPU", "4 x 4 x 1"),
        ("at least 5 epochs. At most 3 epochs.", "epochs"),
        ("Use LoRA. No LoRA in the second stage, use LoRA there too.", "method lora"),
    ],
)
def test_contradictions_are_said(text: str, said: str) -> None:
    assert any(said in line for line in contradictions(read([Text(text)])))


def test_a_brief_that_holds_has_no_contradiction() -> None:
    assert (
        contradictions(
            read([Text("Global batch size 128: 4 per GPU, accumulate 8, 4x A100. 2 to 4 epochs.")])
        )
        == []
    )
