"""The demonstration that the README shows, played as CI plays it: with no terminal around it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo"

# What a person has to see, in this order, and where the pieces differ between the two scripts.
SEEN = {
    "nan": (
        "$ firstcause run python train.py",
        "step  60  loss nan",
        "exit code 0 after",
        "$ firstcause diagnose last",
        "Run it? [y/N] [scripted answer] y",
        "log-of-zero at train.py:11",
        "▸ 11 │ EPS = 1e-8",
        "11 │ + EPS = 1e-6",
        "✓ log-of-zero",
        "$ firstcause case approve",
        "> [scripted answer] t",
        "approved for diff",
        "$ firstcause case apply",
        "$ firstcause case verify",
        "passed: ",
        "$ firstcause case close",
        "retrospective.md",
        "# 1 of 1 found, approved, applied and verified",
    ),
    "shapes": (
        "$ firstcause run python train.py",
        "RuntimeError: The size of tensor a (63) must match the size of tensor b (125)",
        "exit code 1 after",
        "$ firstcause diagnose last",
        "residual-shape-mismatch at model.py:19",
        "19 │ + ",
        "✓ residual-shape-mismatch",
        "approved for diff",
        "passed: ",
        "# 1 of 1 found, approved, applied and verified",
    ),
}


def play(script: Path, *names: str, tmp: Path, color: str = "") -> subprocess.CompletedProcess[str]:
    tmp.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    return subprocess.run(
        [sys.executable, str(script), *names],
        env={
            **environment,
            "TMPDIR": str(tmp),
            "OMP_NUM_THREADS": "1",
            "PYTHONUTF8": "1",
            "FORCE_COLOR": color,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(("name", "color"), [("nan", "1"), ("shapes", "")])
def test_from_the_failing_command_to_the_verified_fix(name: str, color: str, tmp_path: Path) -> None:
    before = contents(DEMO)
    played = play(DEMO / "demo.py", name, tmp=tmp_path / "tmp", color=color)
    assert played.returncode == 0, played.stdout
    # Colour where it was asked for, as on a terminal, and none in a pipe.
    assert ("\x1b[" in played.stdout) == bool(color)
    screen = re.sub(r"\x1b\[[0-9;]*m", "", played.stdout)
    at = 0
    for piece in SEEN[name]:
        found = screen.find(piece, at)
        assert found >= 0, f"{piece!r} is not seen after character {at}:\n{screen}"
        at = found + len(piece)
    # The code that is typed is the one that the screen showed.
    code = screen.split("\nType ")[1].split()[0]
    assert f"[scripted answer] {code}\n" in screen
    assert contents(DEMO) == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_script_that_does_not_fail_as_known_ends_the_demo_with_1(tmp_path: Path) -> None:
    copy = shutil.copytree(DEMO, tmp_path / "demo")
    script = copy / "nan" / "train.py"
    script.write_text("raise SystemExit(3)\n" + script.read_text())
    played = play(copy / "demo.py", "nan", tmp=tmp_path / "tmp")
    assert played.returncode == 1
    assert "# demo/nan did not go as it should: exit code 3; without firstcause it is 0" in played.stdout


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    played = play(DEMO / "demo.py", "speed", tmp=tmp_path / "tmp")
    assert (played.returncode, played.stdout) == (2, "usage: python demo/demo.py [nan] [shapes]\n")


@pytest.fixture(scope="module")
def terminal() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo_terminal", DEMO / "terminal.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("… it took 9 s). Run it? [y/N] ", "y"),
        ("2. It leaves: that. Targeted as shown (t), or\nbroader (b)?\n> ", "t"),
        ("3. Is this acceptable\n(y), or not (n)?\n> ", "y"),
        ("\x1b[1mType R52GZ6 to approve this diff\x1b[0m for these files, once.\n> ", "R52GZ6"),
        # Nothing is typed before the prompt is there, nor into output that only looks like a question.
        ("3. Is this acceptable (y), or not (n)?", None),
        ("Type R52GZ6 to approve this diff for these files, once.\n", None),
        ("step 60  loss nan > 1\n> ", None),
    ],
)
def test_the_scripted_person_answers_questions_and_nothing_else(
    terminal: ModuleType, asked: str, answer: str | None
) -> None:
    assert terminal.answer_to(asked) == answer
