"""The hook by pre-commit itself: installed from a clone of this repository, run on a repository of a user's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from trainings import NO_ZERO_GRAD, ZERO_GRAD

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: firstcause-check
"""
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    command = ["git", *IDENTITY, *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def committed(folder: Path) -> str:
    """The revision of all that lies in a folder."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")


def clone(folder: Path) -> Path:
    """What would be committed here, as a repository of its own."""
    names = git(
        ROOT,
        "ls-files",
        "-co",
        "--exclude-standard",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "src",
        ".pre-commit-hooks.yaml",
    )
    for name in names.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
def test_a_faulty_file_is_refused_and_its_correction_passes(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    repository = clone(tmp_path / "firstcause")
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text(NO_ZERO_GRAD)
    (work / "notes.md").write_text("no code\n")
    text = CONFIG.format(repository=repository, revision=committed(repository))
    (work / ".pre-commit-config.yaml").write_text(text)
    committed(work)

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
        home = {
            **os.environ,
            "PRE_COMMIT_HOME": str(tmp_path / "home"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        return subprocess.run(
            command, cwd=work, env=home, capture_output=True, text=True, timeout=600, check=False
        )

    refused = run()
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "firstcause check" in refused.stdout
    assert "train.py:9: critical missing-zero-grad: optimizer steps in this loop" in refused.stdout
    (work / "train.py").write_text(ZERO_GRAD)
    passed = run()
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout


def test_the_manifest_is_one() -> None:
    pytest.importorskip("pre_commit")
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_the_entry_is_a_command_of_ours_that_takes_files(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (tmp_path / "train.py").write_text(NO_ZERO_GRAD)
    program, *words = hook["entry"].split()
    assert program == "firstcause"
    command = [sys.executable, "-m", "firstcause", *words, "--no-cache", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.count("critical missing-zero-grad")) == (1, 1)
