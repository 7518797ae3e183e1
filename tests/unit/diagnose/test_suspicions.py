"""What a run that ended well shows all the same: measured against its own start, on real journals."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstcause.diagnose.suspicions import suspicion
from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal


def journal(folder: Path, losses: list[float], norms: list[float] | None = None) -> RunFolder:
    path = folder / "rank-0-1.journal"
    path.unlink(missing_ok=True)
    written = Journal(str(path))
    for step, loss in enumerate(losses):
        norm = norms[step] if norms is not None else 1.0 + 0.1 * math.sin(step)
        written.metrics(step, ("loss", "grad_norm", "lr", "seconds"), [loss, norm, 0.1, 0.01])
    return RunFolder(str(folder))


DIVERGED = [1.7, 3.0, 9.7, 32, 58, 71, 290, 322, *[2.5, 2.9, 2.4] * 20]
SPIKES = [1.0 / (1 + i / 10) * (25 if i % 23 == 22 else 1) for i in range(200)]
CURRICULUM = [1.0 + i // 20 for i in range(100)]
WARM_UP = [2.3 + 0.05 * min(i, 20) - 0.02 * max(0, i - 20) for i in range(120)]


def test_a_loss_that_left_its_start_and_never_came_back(tmp_path: Path) -> None:
    found = suspicion(journal(tmp_path, DIVERGED))

    assert found is not None
    assert found.strong
    symptom = found.symptom
    assert symptom.kind == "divergence"
    assert symptom.step == 2
    assert "from 1.7 at the first step to 322" in symptom.message or "to 290" in symptom.message


@pytest.mark.parametrize("losses", [SPIKES, CURRICULUM, WARM_UP, [2.3], [math.nan] * 30, [0.0] * 30])
def test_what_healthy_trainings_show_is_no_failure(losses: list[float], tmp_path: Path) -> None:
    found = suspicion(journal(tmp_path, losses))

    assert found is None or not found.strong


def test_a_norm_that_is_the_same_tiny_number_at_every_step(tmp_path: Path) -> None:
    found = suspicion(journal(tmp_path, [0.67 + 0.001 * (i % 3) for i in range(60)], [1.5e-5] * 60))

    assert found is not None
    assert found.strong
    assert found.symptom.kind == "no-learning"
    assert "1.5e-05" in found.symptom.message


def test_a_loss_that_stands_still_at_ordinary_norms_is_worth_no_word(tmp_path: Path) -> None:
    found = suspicion(journal(tmp_path, [0.67] * 60, [1.0] * 60))

    assert found is not None
    assert not found.strong


def test_a_loss_that_was_thrown_far_up_and_is_exactly_nothing_since(tmp_path: Path) -> None:
    found = suspicion(journal(tmp_path, [0.7, 0.0, 400.0, *[0.0] * 12], [0.5, 0.0, 1.0, *[0.0] * 12]))

    assert found is not None
    assert not found.strong
    assert (found.symptom.kind, found.symptom.step) == ("divergence", 3)
    assert "from 0.7 at the first step to 400" in found.symptom.message


@pytest.mark.parametrize(
    ("losses", "norms"),
    [
        ([1.0, 0.6, 0.2, *[0.0] * 12], [1.0, 1.0, 1.0, *[0.0] * 12]),
        ([0.7, 0.0, 400.0, *[0.0] * 12], [0.5, 0.0, 1.0, *[1e-9] * 12]),
        ([0.7, 400.0, *[0.1] * 30, 0.0, 0.0, 0.0], [1.0] * 32 + [0.0] * 3),
    ],
)
def test_a_loss_that_is_learnt_down_to_nothing_is_none(
    losses: list[float], norms: list[float], tmp_path: Path
) -> None:
    found = suspicion(journal(tmp_path, losses, norms))

    assert found is None or found.symptom.kind != "divergence"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.floats(0.1, 10),
    st.lists(st.floats(0.2, 1.15), min_size=12, max_size=60),
    st.integers(0, 59),
    st.floats(1, 1e6),
)
def test_one_bad_batch_in_a_training_that_holds_is_never_one(
    tmp_path: Path, start: float, shares: list[float], at: int, spike: float
) -> None:
    losses = [start * s for s in shares]
    losses[1 + at % (len(losses) - 1)] *= spike

    found = suspicion(journal(tmp_path, [start, *losses]))
    assert found is None or found.symptom.kind == "no-learning"
