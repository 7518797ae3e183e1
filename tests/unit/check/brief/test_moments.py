"""Values that hold from later on, or for the case that something fails: they may be, and contradict nothing."""

from __future__ import annotations

import pytest

from firstcause.check.brief import Text, read


@pytest.mark.parametrize(
    ("text", "key", "strength"),
    [
        ("Lower the learning rate to 1e-5 after the second epoch.", "learning_rate", "may"),
        ("From epoch 10 on use a learning rate of 1e-4.", "learning_rate", "may"),
        ("After 5 epochs, unfreeze the backbone and drop the lr to 1e-5.", "learning_rate", "may"),
        ("Increase the batch size to 256 halfway through.", "batch_size", "may"),
        ("In the last 5 epochs use a learning rate of 1e-5.", "learning_rate", "may"),
        ("For 10 epochs use a learning rate of 1e-5.", "learning_rate", "must"),
        ("Train with batch size 32 for 10 epochs.", "batch_size", "must"),
        ("After each epoch, evaluate; lr 1e-4.", "learning_rate", "must"),
        ("After 500 steps of warmup the learning rate is 1e-3.", "learning_rate", "must"),
        ("If it does not fit, use gradient checkpointing.", "gradient_checkpointing", "may"),
        ("If memory gets tight, go down to batch size 8.", "batch_size", "may"),
        ("When the loss is NaN, lower the lr to 1e-5.", "learning_rate", "may"),
        ("If the baseline fails, stop. Batch size 16.", "batch_size", "must"),
        ("If you use Adam, take a learning rate of 1e-4.", "learning_rate", "must"),
    ],
)
def test_what_holds_later_or_on_failure_may_be(text: str, key: str, strength: str) -> None:
    assert [i.strength for i in read([Text(text)]) if i.key == key] == [strength]
