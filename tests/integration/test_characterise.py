"""What a failing run is: expected and observed, how often, what changed since it went well, and its figures again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstcause.record import checked

TRAIN = """\
import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]))
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.rand(64, 4)
for epoch in range(2):
    for batch in x.split(16):
        p = torch.sigmoid(model(batch))
        if epoch and len(sys.argv) > 2:
            p = p * 0
        loss = -torch.log(p).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} val_loss {loss.item():.4f}")
"""
# Without torch, for what the supervisor does alone.
PLAIN = "import json, sys\nprint(json.dumps({'val_acc': float(sys.argv[1])}))\nsys.exit(int(sys.argv[2]))\n"


def firstcause(folder: Path, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "firstcause.cli.main", *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def flat(text: str) -> str:
    return " ".join(text.split())


def test_an_expectation_is_a_symptom_and_the_output_is_untouched(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PLAIN)
    expects = [w for e in ("val_acc > 0.5", "val_acc < 1", "f1 > 0") for w in ("--expect", e)]
    done = firstcause(tmp_path, "run", "-o", "r", *expects, sys.executable, "p.py", "0.25", "3", code=3)
    assert done.stdout == '{"val_acc": 0.25}\n'
    run = read(tmp_path / "r" / "run.json")
    assert [(s["kind"], s["message"]) for s in run["symptoms"]] == [
        ("exit-code", "the command ended with exit code 3 and no exception was seen"),
        ("expectation", "val_acc > 0.5 was expected, and it was 0.25 (one value in the output)"),
    ]
    assert [(e["observed"], e["met"]) for e in run["expectations"]] == [
        (0.25, False),
        (0.25, True),
        (None, None),
    ]
    assert "expected f1 > 0: never seen" in flat(done.stderr)
    refused = firstcause(tmp_path, "run", "--expect", "os.system('x')", sys.executable, "p.py", code=2)
    assert "no comparison" in refused.stderr
    assert not (tmp_path / ".firstcause").exists()


def test_how_often_and_since_when(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PLAIN)

    def run(accuracy: str) -> None:
        words = ["run", "-q", "--expect", "val_acc > 0.5", sys.executable, "p.py", accuracy, "0"]
        firstcause(tmp_path, *words)

    for accuracy in ("0.75", "0.25", "0.25"):
        run(accuracy)
    runs = sorted((tmp_path / ".firstcause" / "runs").iterdir())
    # Within one second the random end of an id decides; here the order is the point.
    for number, folder in enumerate(runs):
        content = read(folder / "run.json")
        content["started"] = f"2026-01-01T00:00:0{0 if content['expectations'][0]['met'] else number + 1}"
        content.pop(checked.KEY)
        (folder / "run.json").write_text(checked.dumps(content))
    last = max(runs, key=lambda folder: str(read(folder / "run.json")["started"]))
    shown = flat(firstcause(tmp_path, "diagnose", str(last), "--yes", "--times", "2", code=3).stdout)
    assert "Of 2 recorded runs of this command 2 failed in this way and 0 went well." in shown
    assert "changed: the arguments (0.25 for 0.75);" in shown
    assert "Run 2 more times in copies, it failed in this way 2 of 2 times." in shown
    good, bad = re.findall(r"firstcause diff (\S+) ([^\s`]+)", shown)[0]
    assert "0.75" in firstcause(tmp_path, "diff", good, bad).stdout


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("failed")
    (folder / "train.py").write_text(TRAIN)
    firstcause(folder, "run", "-q", "-o", "good", sys.executable, "train.py", "3")
    firstcause(
        folder, "run", "-q", "-o", "bad", "--expect", "val_loss < 1", sys.executable, "train.py", "3", "fail"
    )
    return folder


def test_two_runs_part_at_the_step_that_failed(failed: Path) -> None:
    firstcause(failed, "diff", "good", "bad", "--json", "diff.json")
    found = read(failed / "diff.json")
    changes = {(c["group"], c["name"]): c for c in found["changes"]}
    assert set(changes) == {("arguments", "command"), ("losses", "step 4"), ("end", "symptoms")}
    assert changes["losses", "step 4"]["after"] == "inf"
    assert {"code", "versions", "seed", "data"} <= set(found["same"])
    other = failed / "other"
    other.mkdir(exist_ok=True)
    (other / "train.py").write_text(TRAIN.replace("torch.rand(64", "2 * torch.rand(64"))
    firstcause(other, "run", "-q", "-o", "r", sys.executable, "train.py", "4")
    shown = firstcause(failed, "diff", "good", str(other / "r")).stdout
    assert "+x = 2 * torch.rand(64, 4)" in shown
    assert re.search(r"torch\s+3 → 4", shown)
    assert re.search(r"batch\s+float32 16x4, mean 0\.\d+, std 0\.\d+ → float32 16x4", shown)
    assert "step 0" in shown


def test_each_figure_of_a_case_can_be_printed_again(failed: Path) -> None:
    done = firstcause(failed, "diagnose", "bad", "--yes", "--theory", "the lr is too high", code=None)
    assert done.returncode in (0, 3), done.stderr
    firstcause(failed, "case", "show", "--json", "case.json")
    case = read(failed / "case.json")
    evidence = [(h["cause"], e) for h in case["diagnosis"]["hypotheses"] for e in h["evidence"]]
    probes = {p["file"]: p for p in case["probes"]}
    assert {c for c, _ in evidence} == {c for p in probes.values() for c in p["causes"]}
    assert all(
        any(p["text"] == e["text"] for p in probes.values()) or e["kind"] == "replay" for _, e in evidence
    )
    shown = firstcause(failed, "case", "show").stdout
    (folder,) = (failed / ".firstcause" / "cases").glob("2*")
    said = []
    for name in probes:
        script = folder / name
        assert f"python {script.relative_to(failed)}" in shown
        ran = subprocess.run(
            [sys.executable, str(script)], cwd="/", capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        said.append((probes[name]["causes"], ran.stdout))
    assert any("made by log" in text and "torch.log(0) is -inf" in text for _, text in said), said
    (observed,) = (text for causes, text in said if "learning-rate-too-high" in causes)
    assert "these are the figures of the evidence" in observed


def test_a_probe_tells_where_the_record_is_another_one(failed: Path, tmp_path: Path) -> None:
    (folder,) = (failed / ".firstcause" / "cases").glob("2*")
    (number,) = [p.stem for p in folder.glob("probe-*.json") if read(p)["kind"] == "observation"]
    shutil.copy(folder / f"{number}.py", tmp_path)
    content = read(folder / f"{number}.json")
    content["values"]["losses"][-1] += 0.5
    content["run"] = str(failed / "bad")
    (tmp_path / f"{number}.json").write_text(json.dumps(content))
    ran = subprocess.run(
        [sys.executable, str(tmp_path / f"{number}.py")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "these are not the figures of the evidence" in ran.stdout
