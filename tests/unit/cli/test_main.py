from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from firstcause import __version__
from firstcause.cli import explain
from firstcause.cli.case import STEPS
from firstcause.cli.main import VERBS, main

COMMAND = [sys.executable, "-m", "firstcause"]


def run(*words: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environ},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


LOADED = """
import sys
before = set(sys.modules)
from firstcause.cli.main import main
code = main(sys.argv[1:])
print("MODULES", *sorted(set(sys.modules) - before), file=sys.stderr)
sys.exit(code)
"""


def modules_of(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return set(done.stderr.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["--help"], {"firstcause", "firstcause.cli", "firstcause.cli.main", "firstcause.errors"}),
        (["--version"], {"firstcause", "firstcause.cli", "firstcause.cli.main", "firstcause.errors"}),
        (["case", "--help"], {"firstcause", "firstcause.cli", "firstcause.cli.main", "firstcause.errors", "firstcause.cli.case", "firstcause.cli.budget"}),
    ],
)  # fmt: skip
def test_help_loads_no_verb(words: list[str], ours: set[str]) -> None:
    loaded = modules_of(*words)
    assert {name for name in loaded if name.startswith("firstcause")} == ours
    heavy = {
        "torch",
        "numpy",
        "asyncio",
        "importlib.metadata",
        "inspect",
        "subprocess",
        "json",
        "dataclasses",
        "socket",
    }
    assert not loaded & heavy


@pytest.mark.parametrize("words", [["explain", "log-of-zero"], ["case", "list"]])
def test_light_verbs_load_nothing_heavy(words: list[str]) -> None:
    assert not modules_of(*words) & {"torch", "numpy", "asyncio", "importlib.metadata"}


def test_help_names_every_verb() -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for name, verb in VERBS.items():
        assert f"  {name}" in done.stdout
        assert verb.help in done.stdout
    for text in (*(verb.help for verb in VERBS.values()), *(step.help for step in STEPS.values())):
        assert text.endswith(".")
        assert len(text) <= 88
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert run("--version").stdout == f"firstcause {__version__}\n"
    assert run().returncode == 2


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_help_of_each_verb(verb: str) -> None:
    done = run(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: firstcause {verb}")


def test_error_is_one_line_and_the_next_step() -> None:
    done = run("explain", "log-of-zer")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "firstcause: the catalogue has no entry 'log-of-zer'\nnext: firstcause explain log-of-zero\n"
    )


@pytest.mark.parametrize(
    "words", [["no-such-verb"], ["explain", "--no-such-option"], ["case"], ["case", "no-such-step"]]
)
def test_wrong_use_is_code_2(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_our_own_failure_names_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(args: object) -> int:
        raise KeyError("lost\nkey")

    monkeypatch.setattr(explain, "main", broken)
    monkeypatch.delenv("FIRSTCAUSE_DEBUG", raising=False)
    assert main(["explain"]) == 2
    message, hint = capsys.readouterr().err.splitlines()
    assert message.startswith("firstcause: a failure of firstcause itself, not of your program, at ")
    assert "test_main.py:" in message
    assert message.endswith(r"KeyError: 'lost\nkey'")
    assert hint.startswith("next: FIRSTCAUSE_DEBUG=1 firstcause explain")
    monkeypatch.setenv("FIRSTCAUSE_DEBUG", "1")
    assert main(["explain"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(explain, "main", interrupted)
    assert main(["explain"]) == 130
    assert capsys.readouterr() == ("", "")


def test_reader_that_went_away_is_no_failure() -> None:
    child = subprocess.Popen(
        [*COMMAND, "explain", "log-of-zero"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.wait(30) == 141
    assert child.stderr.read() == b""


def test_interrupt_from_the_keyboard_ends_without_a_traceback(tmp_path: Path) -> None:
    slow = (
        "import time\nfrom firstcause.cli import explain\nexplain.main = lambda args: time.sleep(30) or 0\n"
    )
    program = (
        slow
        + "from firstcause.cli.main import main\nprint('ready', flush=True)\nraise SystemExit(main(['explain']))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 130
    assert child.stderr.read() == ""


def test_narrow_encoding_is_no_failure() -> None:
    done = run("explain", "log-of-zero", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "-----" in done.stdout
