"""`firstcause review-fix`: a file, standard input or what git sees; 0 yes, 1 no, 2 for what cannot be read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from firstcause.fix.edits import unified_diff

BEFORE = "import torch\n\n\ndef loss(p):\n    return -torch.log(p).mean()\n"
GOOD = BEFORE.replace("torch.log(p)", "torch.log(p.clamp_min(1e-7))")
BAD = BEFORE.replace("log(p).mean()", "log(p).mean().nan_to_num()")


def run(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "firstcause", "review-fix", *words]
    return subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True, check=False)


def test_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BEFORE)
    good = run(tmp_path, "--json", "-", given=unified_diff("train.py", BEFORE, GOOD))
    assert (good.returncode, json.loads(good.stdout)["passed"]) == (0, True)
    bad = run(tmp_path, given=unified_diff("train.py", BEFORE, BAD))
    assert bad.returncode == 1
    assert "train.py:5: nan-hidden: " in bad.stdout
    assert "without a case" in bad.stdout


def test_with_a_diagnosis(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BEFORE)
    diagnosis = {
        "status": "healthy",
        "symptom": None,
        "cause": None,
        "site": None,
        "hypotheses": [],
        "sections": {},
    }
    (tmp_path / "d.json").write_text(json.dumps(diagnosis))
    given = unified_diff("train.py", BEFORE, GOOD)
    done = run(tmp_path, "--diagnosis", "d.json", given=given)
    assert (done.returncode, "nothing-to-mend" in done.stdout) == (1, True)
    assert "in the light of the diagnosis" in done.stdout
    assert run(tmp_path, "--diagnosis", "train.py", given=given).returncode == 2


def test_from_a_file_and_from_git(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BEFORE)
    (tmp_path / "fix.diff").write_text(unified_diff("train.py", BEFORE, BAD))
    assert run(tmp_path, "fix.diff").returncode == 1
    assert run(tmp_path, "missing.diff").returncode == 2
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "train.py"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    nothing = run(tmp_path)
    assert (nothing.returncode, "shows no change" in nothing.stderr) == (2, True)
    (tmp_path / "train.py").write_text(GOOD)
    assert run(tmp_path).returncode == 0
    (tmp_path / "train.py").write_text(BAD)
    assert run(tmp_path).returncode == 1


def test_a_binary_file_among_the_changes_is_no_hunk(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    (tmp_path / "model.py").write_text("x = 1\n")
    (tmp_path / "train.py").write_text(BEFORE)
    (tmp_path / "points.bin").write_bytes(bytes(range(256)))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    (tmp_path / "model.py").write_text("x = 2\n")
    (tmp_path / "train.py").write_text(BAD)
    (tmp_path / "points.bin").write_bytes(bytes(reversed(range(256))))
    done = run(tmp_path)
    assert (done.returncode, "2 files" in done.stdout, "nan-hidden" in done.stdout) == (1, True, True)
    diff = subprocess.run(
        [*git, "diff", "--binary"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert run(tmp_path, given=diff.stdout).returncode == 1
