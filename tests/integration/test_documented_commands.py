"""Every command that a document shows is one that can be typed, and is run as it stands there."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import documented
import pytest

from firstcause.cli import main

# Those that come before their time in a case that nobody has approved, and one for several ranks: they say so.
REFUSED = ("case approve", "case apply", "case verify", "case reject", "case close", "ranks last")
SERVING = ("view", "mcp --http")


@pytest.mark.parametrize("command", documented.commands())
def test_it_can_be_typed(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(command.replace("$ASLEEP", "4711"))[1:]
    assert words[0] in main.VERBS, f"there is no verb {words[0]!r}"
    module = importlib.import_module(f"firstcause.cli.{words[0].replace('-', '_')}")
    monkeypatch.setattr(module, "main", lambda _: 0)
    assert main.main(words) == 0, capsys.readouterr().err


@pytest.mark.parametrize("command", documented.mentioned())
def test_what_is_mentioned_exists(command: str) -> None:
    verb = command.split()[1]
    assert verb in main.VERBS, f"there is no verb {verb!r}"
    parser = argparse.ArgumentParser()
    importlib.import_module(f"firstcause.cli.{verb.replace('-', '_')}").add_arguments(parser)
    steps = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    parsers = [parser, *(one for action in steps for one in action.choices.values())]
    known = {option for one in parsers for option in one._option_string_actions}
    ours = command.partition(" python ")[0].partition(' "')[0]
    assert [o for o in re.findall(r"(?<![\w-])--[a-z][\w-]*", ours) if o not in known] == []


def test_every_python_program_exists() -> None:
    lines = [line for document in documented.DOCUMENTS for line in documented.shown(document)]
    named = [
        m[1]
        for line in lines
        if (m := re.match(r"python ((?:benchmarks|docs|demo|scripts|pressure)/\S+\.py)", line))
    ]
    assert named
    assert [name for name in named if not (documented.ROOT / name).exists()] == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documented")
    documented.write_project(folder)
    for command in (
        "firstcause run -q -o .firstcause/runs/0-healthy python healthy.py",
        "firstcause run -q python train.py",
        "firstcause diagnose last -q",
        "firstcause report last -o run.html",
        "firstcause skills export plugin",
    ):
        done = _typed(command, folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def project(recorded: Path, tmp_path: Path) -> Path:
    shutil.copytree(recorded, tmp_path / "project", symlinks=True)
    return tmp_path / "project"


@pytest.fixture
def asleep() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"]) as process:
        yield process.pid
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("command", documented.commands())
def test_it_does_what_it_says(command: str, project: Path, asleep: int) -> None:
    if "run ipython" in command and shutil.which("ipython") is None:
        pytest.skip("no IPython here")
    # Histories that only their own libraries write: tests/unit/exchange has them.
    if re.search(r"import (runs|wandb)/", command):
        pytest.skip("the project holds no such history")
    for form, package in (("parquet", "pyarrow"), ("tensorboard", "tensorboard")):
        if f"--format {form}" in command:
            pytest.importorskip(package)
    case = next((project / ".firstcause" / "cases").glob("2*")).name
    verb = command.removeprefix("firstcause ")
    # What a command makes is not there before it.
    if "-o run.html" in command:
        (project / "run.html").unlink()
    if verb.startswith("skills export"):
        shutil.rmtree(project / "plugin")
    done = _typed(command, project, ends=not verb.startswith(SERVING), ASLEEP=str(asleep), CASE=case)
    said = done.stdout + done.stderr
    assert "itself, not of your program" not in said
    assert "Traceback (most recent" not in done.stderr, said
    if verb.startswith(SERVING):
        assert "127.0.0.1" in said
    elif verb.startswith(REFUSED):
        assert done.returncode == 2
        assert "next: " in done.stderr
    else:
        assert done.returncode in (0, 1, 3), said


def _typed(
    command: str, folder: Path, ends: bool = True, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as a shell does; one that serves is interrupted once it has said where."""
    # A client of the hook tells what it is about to do.
    given = (
        '{"tool_name": "Read", "tool_input": {"file_path": "train.py"}}'
        if command == "firstcause hook"
        else ""
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    words = ["bash", "-c", f"exec {command}" if "|" not in command else command]
    with subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        first = ""
        if not ends:
            assert process.stdout is not None
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(given, timeout=400)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, first + out, err)
