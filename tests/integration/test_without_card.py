"""A step whose fork autograd refused, since it saw a card, is replayed where no card is seen."""

from __future__ import annotations

from pathlib import Path

from recording import record, the_run

from firstcause.diagnose import diagnose
from firstcause.diagnose.without_card import replayed_without_card
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder


def refused(tmp_path: Path) -> RunFolder:
    """The record as it is on a machine with a card: the state is kept, and the fork gave no replay."""
    record(tmp_path, "replay_buffer_late")
    run = the_run(tmp_path)
    (failure,) = run.failures()
    del failure["replay"]
    run.write_json(f"failures/{failure['name']}.json", failure | {"refused_in_fork": True})
    return run


def test_the_same_failure_is_replayed_in_a_copy_and_kept(tmp_path: Path) -> None:
    run = refused(tmp_path)
    (failure,) = run.failures()
    whole = replayed_without_card(run, failure, Lab(run, failure, 100))
    assert whole is not None
    assert whole["replay"]["exact"]
    assert "/firstcause-try-" not in str(whole)
    assert str(tmp_path / "train.py") in str(whole["replay"])
    assert tuple(run.failures()) == (whole,)


def test_the_diagnosis_is_that_of_a_machine_without_a_card(tmp_path: Path) -> None:
    run = refused(tmp_path)
    found = diagnose(run, lambda failure: Lab(run, failure, 100))
    assert (found.status, found.cause, found.site and found.site.line) == (
        "established",
        "silent-broadcast",
        16,
    )


def test_nothing_is_run_again_without_leave_or_time_or_need(tmp_path: Path) -> None:
    run = refused(tmp_path)
    (failure,) = run.failures()
    assert replayed_without_card(run, failure, Lab(run, failure, 100, allowed=lambda: False)) is failure
    assert replayed_without_card(run, failure, Lab(run, failure, 5)) is failure
    assert replayed_without_card(run, failure, None) is failure
    own = {k: v for k, v in failure.items() if k != "refused_in_fork"}
    assert replayed_without_card(run, own, Lab(run, own, 100)) is own


def test_a_copy_that_fails_in_another_way_gives_no_replay(tmp_path: Path) -> None:
    run = refused(tmp_path)
    (failure,) = run.failures()
    source = (tmp_path / "train.py").read_text()
    (tmp_path / "train.py").write_text(source.replace("torch.randn(16)", "torch.randn(8)"))
    assert replayed_without_card(run, failure, Lab(run, failure, 100)) is failure
