"""Where somebody asks whether a thing is a fault, of a training that does well."""

from __future__ import annotations

import pytest
from told_by import triaged

WELL = [
    (
        '{"step": 50, "loss": 4.1}\n{"step": 100, "loss": 3.6}\n{"step": 150, "loss": 3.7}\n{"step": 200, "loss": 3.1}\n\n'
        "it rose at the third line. is something wrong with it?",
        "debugging-techniques",
    ),
    (
        "memory_allocated is 7.1 GB and stays exactly there since yesterday. they call it a leak. is it?",
        "tensor-operations-and-memory",
    ),
    (
        "the amp scaler skipped one step early on, training is good. must I repair that?",
        "mixed-precision-and-optimization",
    ),
    (
        "epoch 1 train 2.2 val 1.9\nepoch 2 train 1.7 val 1.5\nval below train: do I have a bug?",
        "debugging-techniques",
    ),
    (
        "n0:7:7 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.\n"
        "step 10 loss 8.2 50k tok/s\nstep 20 loss 7.7 50k tok/s\nmust I fix that first line?",
        "distributed-training-strategies",
    ),
]


@pytest.mark.parametrize(("text", "specialist"), WELL, ids=[text[:40] for text, _ in WELL])
def test_nothing_is_claimed_of_a_training_that_does_well(text: str, specialist: str) -> None:
    triage = triaged(text)
    assert (triage.action, triage.patterns, triage.routes[0]) == ("route", (), specialist)


def test_a_symptom_that_is_told_stands_beside_the_question() -> None:
    triage = triaged("gpu memory grows with every epoch, the loss falls nicely. is that a problem?")
    assert triage.patterns == ("memory-growth",)
    assert triaged("loss 2.0, 2.0, 2.0 and accuracy stays at 10%. is that normal?").patterns == (
        "no-learning",
    )
