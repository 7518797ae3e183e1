"""Talks of a few lines, in which an answer leans on what was offered."""

from __future__ import annotations

from firstcause.check.brief import Text, read


def asked(*lines: str) -> set[tuple[str, object, str]]:
    text = "\n".join(f"{'assistant' if n % 2 else 'user'}: {line}" for n, line in enumerate(lines))
    return {
        (i.key, i.value, i.polarity) for i in read([Text(text)]) if i.status == "active" and not i.derived
    }


def test_half_of_what_was_offered() -> None:
    said = asked("vllm with 300 tokens max", "max_model_len 32768?", "half of that")
    assert ("max_model_len", 16384, "require") in said
    assert not any(key.startswith("max_new") and value == 150 for key, value, _ in said)
    assert ("learning_rate", 5e-05, "require") in asked("train gpt2", "lr 1e-4?", "half that")


def test_dont_refuses() -> None:
    assert ("label_smoothing", "none", "forbid") in asked("train a resnet50", "Label smoothing 0.1?", "don't")


def test_what_the_data_have_is_no_limit() -> None:
    said = asked("train gpt2", "Max length?", "our samples have about 700 tokens, so 1024 will do")
    assert ("max_length", 700, "require") not in said


def test_a_numbered_list_of_what_is_not_to_be_used_is_no_wish() -> None:
    found = read([Text("Please do not use:\n1. AdamW\n2. mixup\n")])
    assert {(i.key, i.polarity) for i in found} == {("optimizer", "forbid"), ("augmentation", "forbid")}
