"""A fence that holds nothing but comments is a wish; code in a fence is none."""

from __future__ import annotations

from firstcause.check.brief import Text, read


def keys(text: str) -> dict[str, object]:
    return {i.key: i.value for i in read([Text(text)])}


def test_a_stub_of_comments_is_read() -> None:
    found = keys(
        "Fill in the stub:\n\n```python\n# base: org/model-7b, trl DPOTrainer\n# lr 5e-7, 1 epoch\n```\n"
    )
    assert (found["learning_rate"], found["epochs"], found["model"]) == (5e-07, 1, "org/model-7b")


def test_code_with_a_comment_is_not() -> None:
    found = keys("Fine-tune it for 2 epochs, as here:\n\n```python\n# lr 5e-7\nx = train(epochs=9)\n```\n")
    assert found == {"epochs": 2}
