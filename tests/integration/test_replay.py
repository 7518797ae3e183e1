"""What replays exactly, in the forked child and in a fresh process, and what says why it does not."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstcause.record.folder import RunFolder

PROGRAMS = Path(__file__).parent / "programs"

# program: (exact in the forked child, exact in a fresh process, what is said where it is not, first bad op and line)
EXPECTED: dict[str, tuple[bool, bool, str, tuple[str, int] | None]] = {
    "plain_loop": (True, True, "", ("log", 11)),
    "class_trainer": (True, True, "", ("div", 23)),
    "accumulation": (True, True, "", ("div", 11)),
    "gan": (True, True, "", ("log", 13)),
    "next_in_body": (True, True, "", ("log", 13)),
    "popped_batch": (True, True, "", ("div", 11)),
    "input_in_place": (True, True, "", ("log", 10)),
    "lbfgs": (True, True, "", ("div", 13)),
    "generator_loop": (True, True, "", ("div", 11)),
    "scaled_autocast": (True, True, "", ("div", 12)),
    "compiled_model": (True, True, "", ("log", 8)),
    "shape_error": (True, True, "", None),
    "starts_a_process": (False, False, "not replayable past line 11: it starts a process", None),
    "never_zeroed": (True, True, "", ("div", 8)),
    "hf_trainer": (True, True, "", ("log", 18)),
}


def firstcause(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", *words],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def contents(folder: Path) -> dict[str, str]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and ".firstcause" not in p.parts)
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def replay_of(folder: Path) -> dict[str, Any]:
    run = next((folder / ".firstcause" / "runs").iterdir())
    failure: dict[str, Any] = RunFolder(str(run)).failures()[0]
    return failure


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_replay(name: str, tmp_path: Path) -> None:
    if name == "hf_trainer" and importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    forked, fresh, said, born = EXPECTED[name]
    shutil.copy(PROGRAMS / f"{name}.py", tmp_path / "train.py")
    done = firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    before = contents(tmp_path)
    failure = replay_of(tmp_path)
    replay = failure["replay"]
    assert replay["exact"] is forked, (replay.get("why"), replay.get("text"), done.stderr)
    assert said in replay.get("why", "")
    if born is not None:
        first = replay["trace"]["births"][0]
        assert (first["op"], first["site"]["line"]) == born
    again = firstcause(tmp_path, "replay")
    assert again.returncode == (0 if fresh else 3), again.stdout + again.stderr
    assert said in again.stdout
    # A replay runs the program's own code again, and nothing of it may be seen in the user's folder.
    assert contents(tmp_path) == before


def test_diagnosis_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    program = (PROGRAMS / "plain_loop.py").read_text() + 'open("log.txt", "a").write("ran\\n")\n'
    (tmp_path / "train.py").write_text(program)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    before = contents(tmp_path)
    assert before["log.txt"] == hashlib.sha256(b"ran\n").hexdigest()
    done = firstcause(tmp_path, "diagnose", "--yes", "--json", str(tmp_path.parent / "d.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "log-of-zero" in done.stdout
    assert contents(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [".firstcause", "log.txt", "train.py"]


def test_a_healthy_run_is_healthy_and_says_no_more(tmp_path: Path) -> None:
    program = (PROGRAMS / "plain_loop.py").read_text().replace("step == 7", "step == 700")
    (tmp_path / "train.py").write_text(program)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "diagnose", "--yes")
    assert done.returncode == 0
    assert "healthy" in done.stdout
    assert not (tmp_path / ".firstcause" / "cases").exists()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import sys\nsys.exit(3)\n", "exit code 3"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "SIGSEGV"),
        ("raise RuntimeError('outside of every loop')\n", "outside of every loop"),
    ],
)
def test_what_is_not_established_says_what_is_missing(source: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(source)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "diagnose", "--yes")
    assert done.returncode == 3
    assert expected in done.stdout
    assert "Missing" in done.stdout


def test_a_run_that_was_not_observed_is_not_called_healthy(tmp_path: Path) -> None:
    firstcause(tmp_path, "run", "-q", sys.executable, "-I", "-c", "print('final loss nan')")
    done = firstcause(tmp_path, "diagnose", "--yes")
    assert done.returncode == 3
    assert "no Python process of the command could be observed" in " ".join(done.stdout.split())


def test_commands_that_cannot_run_get_one_line(tmp_path: Path) -> None:
    for words in (["run", "nosuchprogram"], ["run", "missing.py"], ["diagnose", "none"], ["replay", "none"]):
        done = firstcause(tmp_path, *words)
        assert done.returncode == 2
        assert done.stderr.startswith("firstcause: ")
        assert "next: " in done.stderr
        assert "Traceback" not in done.stderr
