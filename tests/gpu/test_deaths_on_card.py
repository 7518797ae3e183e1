"""Programs that die on a card, diagnosed after their process has gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from on_card import diagnosed, journal, line_of, recorded


def test_an_assertion_on_the_device_is_told_by_its_line_and_token(tmp_path: Path) -> None:
    done = recorded(tmp_path, "device_assert")
    assert done.returncode != 0, done.stdout
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "embedding-index-out-of-range"), said["printed"]
    assert said["site"]["line"] == line_of("device_assert"), said["printed"]
    assert "50" in said["printed"]


@pytest.mark.needs_card
def test_an_illegal_access_is_told_from_an_assertion(tmp_path: Path) -> None:
    import torch

    if not hasattr(torch.cuda, "_compile_kernel"):
        pytest.skip("this torch compiles no kernels of the program's own")
    done = recorded(tmp_path, "illegal_access")
    assert "illegal memory access" in done.stderr, done.stderr
    said = diagnosed(tmp_path)
    assert said["status"] != "healthy", said["printed"]
    assert said["cause"] not in ("embedding-index-out-of-range", "target-out-of-range"), said["printed"]
    assert "illegal memory access" in said["printed"]
    assert f"train.py:{line_of('illegal_access')}" in said["printed"], said["printed"]


@pytest.mark.needs_card
def test_memory_that_lies_in_pieces_is_told_by_its_figures(tmp_path: Path) -> None:
    done = recorded(tmp_path, "fragmentation")
    assert "OutOfMemoryError" in done.stderr, done.stderr
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "fragmentation"), said["printed"]
    assert said["site"]["line"] == line_of("fragmentation"), said["printed"]


def test_an_overflow_in_half_precision_is_named_where_it_begins(tmp_path: Path) -> None:
    recorded(tmp_path, "half_overflow", "plain")
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "fp16-overflow"), said["printed"]
    assert said["site"]["line"] == line_of("half_overflow"), said["printed"]


@pytest.mark.parametrize("kind", ["foreach", "fused"])
def test_an_overflow_is_named_also_where_a_scaler_leaves_every_step_out(tmp_path: Path, kind: str) -> None:
    recorded(tmp_path, "half_overflow", "scaler", kind)
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "fp16-overflow"), said["printed"] + journal(
        tmp_path
    )
    assert said["site"]["line"] == line_of("half_overflow"), said["printed"]


@pytest.mark.needs_card
def test_a_forked_worker_that_asks_for_the_card_is_named(tmp_path: Path) -> None:
    done = recorded(tmp_path, "forked_worker")
    assert "forked subprocess" in done.stderr, done.stderr
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "cuda-in-forked-worker"), said["printed"]
    assert said["site"]["line"] == line_of("forked_worker"), said["printed"]


@pytest.mark.parametrize("words", [(), ("quiet",)], ids=["reads-each-loss", "reads-nothing"])
@pytest.mark.parametrize(
    "kind", ["fused", "foreach", pytest.param("capturable", marks=pytest.mark.needs_card)]
)
def test_a_nan_is_replayed_from_the_step_that_made_it(
    tmp_path: Path, kind: str, words: tuple[str, ...]
) -> None:
    done = recorded(tmp_path, "log_of_zero", kind, *words)
    # A recorded run ends no better than an unrecorded one.
    assert "parameters finite: False" in done.stdout, done.stdout + done.stderr
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "log-of-zero"), said["printed"] + journal(
        tmp_path
    )
    assert said["site"]["line"] == line_of("log_of_zero"), said["printed"]
    assert said["symptom"]["step"] == 7, said["printed"]
    # Tried in a confined copy, which may compute on the card.
    assert said["fix"] is not None, said["printed"]
