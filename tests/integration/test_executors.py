"""Experiments as jobs of an engine say what they say as forks of one process: real engines, each on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from recording import firstcause, record, the_run

from firstcause.errors import InputError
from firstcause.lab import executors
from firstcause.lab.counterfactual import CONTROL, Arm, Lab
from firstcause.lab.executors import here, travelling

ARMS = [CONTROL, Arm("slower", "learning_rate", {"factor": 0.01}), Arm("clipped", "clip_gradients", {})]


def needs(package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


def figures(folder: Any, executor: str | None) -> dict[str, Any]:
    with executors.opened(executor, folder) as opened:
        lab = Lab(folder, {}, 100, executor=opened)
        ran = lab.from_start(ARMS, 8)
    assert [r.why for r in ran.values()] == [""] * len(ARMS)
    return {name: (r.ended, r.losses) for name, r in ran.items()}


@needs("submitit")
def test_jobs_of_submitit_take_the_steps_that_forks_take(tmp_path: Path) -> None:
    record(tmp_path, "rate_too_high", "-q")
    folder = the_run(tmp_path)
    here_found = figures(folder, None)
    assert len({losses for _, losses in here_found.values()}) > 1
    before = sorted(os.listdir(folder.path))
    assert figures(folder, "submitit:cluster=local") == here_found
    assert sorted(os.listdir(folder.path)) == before


@pytest.mark.slow
@needs("ray")
def test_tasks_of_ray_take_the_steps_that_forks_take(tmp_path: Path) -> None:
    record(tmp_path, "rate_too_high", "-q")
    folder = the_run(tmp_path)
    assert figures(folder, "ray:num_cpus=1") == figures(folder, None)


@pytest.mark.slow
@needs("submitit")
def test_a_diagnosis_by_jobs_is_the_same(tmp_path: Path) -> None:
    record(tmp_path, "rate_too_high", "-q")
    path = the_run(tmp_path).path
    said = firstcause(
        tmp_path, "diagnose", path, "--yes", "--json", "d.json", "--executor", "submitit:cluster=local"
    )
    found = json.loads((tmp_path / "d.json").read_text())
    assert (found["status"], found["cause"]) == ("established", "learning-rate-too-high"), said.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dask", "'dask' is no executor"),
        ("ray:num_cpus", "'num_cpus' is no setting of ray"),
        ("cards:number=0", "no card here"),
        ("cards:number=many", "one setting, the number of cards"),
        pytest.param("submitit:pages=1", "need to be prefixed", marks=needs("submitit")),
        pytest.param(
            "ray:pages=1", "ray does not start with these settings", marks=[needs("ray"), pytest.mark.slow]
        ),
    ],
)
def test_an_executor_that_cannot_be_had(tmp_path: Path, text: str, said: str) -> None:
    record(tmp_path, "rate_too_high", "-q")
    with pytest.raises(InputError, match=said) as caught, executors.opened(text, the_run(tmp_path)):
        pass
    assert caught.value.slug == "no-executor"
    assert "\n" not in str(caught.value)


def test_a_job_that_takes_too_long_is_stopped_and_says_what_it_said(tmp_path: Path) -> None:
    job = executors.Job(
        ("sh", "-c", "echo begun; sleep 60"), str(tmp_path), dict(os.environ), str(tmp_path / "said"), 1.0
    )
    over = here.run(job)
    assert over.code is None
    assert over.seconds < 30
    assert (tmp_path / "said").read_text() == "begun\n"


def test_what_tells_of_a_machine_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    sent = travelling(dict(os.environ))
    assert not {"SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES"} & set(sent)
    # Which an experiment without a card asks for.
    assert travelling({**os.environ, "CUDA_VISIBLE_DEVICES": ""})["CUDA_VISIBLE_DEVICES"] == ""
    assert executors.arrived({"A": "1"})["SLURM_JOB_ID"] == "7"


def test_each_job_has_a_card_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    record(tmp_path, "rate_too_high", "-q")
    with executors.opened("cards", the_run(tmp_path)) as cards:
        assert cards is not None
        assert cards.width == 2
        seen = []
        for environment in (dict(os.environ), {**os.environ, "CUDA_VISIBLE_DEVICES": ""}):
            out = tmp_path / "said"
            words = ("sh", "-c", 'echo "[$CUDA_VISIBLE_DEVICES]"')
            assert cards.run(executors.Job(words, str(tmp_path), environment, str(out), 20.0)).code == 0
            seen.append(out.read_text().strip())
    assert seen == ["[4]", "[]"]
