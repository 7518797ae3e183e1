"""``firstcause.observe`` in a real script: the record that ``firstcause run`` makes, and the same output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recording import environment, firstcause, the_run

from firstcause.record.journal import steps_of

SCRIPT = """\
import sys
import torch
from torch import nn
import firstcause

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
firstcause.observe(model, optimizer)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
for epoch in range(3):
    if "early" in sys.argv:
        schedule.step()
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x) * (float("nan") if "nan" in sys.argv and epoch == 1 else 1.0), y)
        loss.backward()
        optimizer.step()
    if "early" not in sys.argv:
        schedule.step()
if "raise" in sys.argv:
    raise ValueError("at the end")
print(f"final loss {loss.item():.6f}")
"""


def run(cwd: Path, *words: str, text: str = SCRIPT) -> subprocess.CompletedProcess[str]:
    (cwd / "train.py").write_text(text)
    command = [sys.executable, "train.py", *words]
    return subprocess.run(
        command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )


def test_the_record_holds_each_step_as_that_of_the_launcher_does(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    done = run(inside)
    (outside / "train.py").write_text(SCRIPT)
    launched = firstcause(outside, "run", "-q", sys.executable, "train.py")
    assert (done.returncode, done.stdout) == (0, launched.stdout)
    assert done.stderr == ""
    own, other = the_run(inside), the_run(outside)
    figures = [
        [(r["step"], r["loss"], r["grad_norm"], r["lr"]) for r in steps_of(f.journals().values())]
        for f in (own, other)
    ]
    assert len(figures[0]) == 60
    assert figures[0] == figures[1]
    first, second = own.run(), other.run()
    assert first.command[-1:] == ("train.py",)
    assert (first.exit_code, first.symptoms, first.versions) == (0, (), second.versions)
    assert [Path(p).name for p in first.sources] == ["train.py"]
    assert first.sources[str(inside / "train.py")] == second.sources[str(outside / "train.py")]


@pytest.mark.slow
def test_without_an_optimizer_all_of_them_are_followed(tmp_path: Path) -> None:
    text = SCRIPT.replace("observe(model, optimizer)", "observe(model)")
    assert text != SCRIPT
    done = run(tmp_path, text=text)
    assert (done.returncode, done.stderr) == (0, "")
    steps = steps_of(the_run(tmp_path).journals().values())
    assert len([r for r in steps if r["grad_norm"] is not None]) == 60


@pytest.mark.parametrize(("word", "kind", "code"), [("nan", "nan", 0), ("raise", "exception", 1)])
def test_a_failure_is_a_symptom_of_the_run(tmp_path: Path, word: str, kind: str, code: int) -> None:
    done = run(tmp_path, word)
    assert done.returncode == code
    found = the_run(tmp_path).run()
    assert (found.exit_code, [s.kind for s in found.symptoms]) == (code, [kind])
    assert ("ValueError: at the end" in done.stderr) == (word == "raise")


def test_a_failing_step_is_replayed_under_the_launchers_marks(tmp_path: Path) -> None:
    assert run(tmp_path, "nan").returncode == 0
    done = firstcause(tmp_path, "diagnose", "last", "--yes", "--budget", "60s", "--json", "answer.json")
    answer = json.loads((tmp_path / "answer.json").read_text())
    (failure,) = the_run(tmp_path).failures()
    assert failure["replay"]["exact"], done.stdout
    assert failure["unit"]["line"] == 16
    assert answer["symptom"]["step"] == 20
    assert answer["status"] in ("established", "not-established")
    assert "outside of any loop" not in done.stdout


@pytest.mark.slow
def test_a_silent_fault_is_diagnosed_from_it(tmp_path: Path) -> None:
    assert run(tmp_path, "early").returncode == 0
    name = Path(the_run(tmp_path).path).name
    done = firstcause(tmp_path, "diagnose", name, "--yes", "--budget", "60s", "--json", "answer.json")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (answer["cause"], answer["site"]["line"]) == ("scheduler-before-optimizer", 15), done.stderr
