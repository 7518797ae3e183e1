"""``firstcause check`` from the outside: exit codes, formats, fixes, baselines, confirmed assumptions, hostile paths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """import torch

w = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
for step in range(100):
    w(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
"""


def run(folder: Path, *given: str) -> tuple[int, str, str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / ".cache"), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "firstcause.cli.main", "check", *given],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def test_the_exit_code_says_whether_errors_stand(folder: Path) -> None:
    assert run(folder)[0] == 1
    (folder / "train.py").write_text(PROGRAM + "    opt.zero_grad()\n")
    assert run(folder)[0] == 0
    code, _, error = run(folder, "nowhere.py")
    assert code == 2
    assert "nowhere.py does not exist" in error


def test_json_is_the_same_on_paper_and_in_a_file(folder: Path) -> None:
    code, out, _ = run(folder, "--format", "json", "--json", "report.json")
    assert code == 1
    assert json.loads(out) == json.loads((folder / "report.json").read_text())
    assert [f["slug"] for f in json.loads(out)["findings"]] == ["missing-zero-grad"]


def test_fix_writes_diff_does_not(folder: Path) -> None:
    os.chmod(folder / "train.py", 0o640)
    code, out, _ = run(folder, "--diff")
    assert code == 1
    assert "+    opt.zero_grad()\n" in out
    assert (folder / "train.py").read_text() == PROGRAM
    code, out, _ = run(folder, "--fix", "--format", "concise")
    assert code == 0
    assert "1 corrected in 1 files" in out
    assert (folder / "train.py").read_text() == PROGRAM + "    opt.zero_grad()\n"
    assert (folder / "train.py").stat().st_mode & 0o777 == 0o640


def test_a_baseline_is_written_once_and_then_holds(folder: Path) -> None:
    assert run(folder, "--baseline", "base.json")[0] == 0
    (folder / "train.py").write_text("# moved\n\n" + PROGRAM)
    assert run(folder, "--baseline", "base.json")[0] == 0
    (folder / "other.py").write_text(PROGRAM)
    code, out, _ = run(folder, "--baseline", "base.json", "--format", "concise")
    assert code == 1
    assert "other.py" in out
    assert "train.py" not in out


def test_settings_come_from_the_project(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.firstcause.check]\nignore = ["missing-zero-grad"]\n')
    assert run(folder)[0] == 0
    (folder / "pyproject.toml").write_text('[tool.firstcause.check]\npaths = ["gone"]\n')
    assert run(folder)[0] == 2


def test_a_confirmed_assumption_is_kept_with_its_value(folder: Path) -> None:
    (folder / "brief.md").write_text("Train for 3 epochs.\n")
    text = PROGRAM.replace("lr=0.1", "lr=0.1, weight_decay=0.05") + "    opt.zero_grad()\n"
    (folder / "train.py").write_text(text)
    given = ("train.py", "--brief", "brief.md", "--format", "json")
    assumed = [
        f["key"] for f in json.loads(run(folder, *given)[1])["findings"] if f["category"] == "assumption"
    ]
    assert assumed
    _, out, _ = run(folder, "--confirm", assumed[0], *given)
    assert f"confirmed: {assumed[0]} = " in out
    after = [
        f["key"] for f in json.loads(run(folder, *given)[1])["findings"] if f["category"] == "assumption"
    ]
    assert after == assumed[1:]
    assert run(folder, "--confirm", "no_such_key", *given)[0] == 2


def test_names_with_control_codes_print_harmlessly(folder: Path) -> None:
    (folder / "a\x1b[31m\n::error::.py").write_text(PROGRAM)
    for form in ("terminal", "concise", "github", "markdown"):
        code, out, _ = run(folder, "--format", form)
        assert code == 1
        assert "\x1b" not in out
        assert not any(line.startswith("::error::.py") for line in out.splitlines())
