"""Tensors of inference mode count no writes: a training that holds some is observed like any other."""

from __future__ import annotations

from pathlib import Path

from recording import record, the_run

from firstcause.diagnose import diagnose


def test_a_training_that_holds_them_is_observed_and_its_failure_replayed(tmp_path: Path) -> None:
    record(tmp_path, "held_from_inference_mode")
    folder = the_run(tmp_path)
    assert not folder.run().notes
    (failure,) = folder.failures()
    assert (failure["step"], failure["replay"]["exact"]) == (25, True)
    assert diagnose(folder).cause == "division-by-zero"
