"""`view`, `report`, `open` and `watch` as they are typed."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from view.projects import opened, recorded

from firstcause.cli.main import main

COMMAND = (sys.executable, "-m", "firstcause")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    recorded(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_report_and_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = opened(project)
    assert main(["report", "last", "-o", "out.html"]) == 0
    assert re.fullmatch(r"out.html: \d+ kB\n", capsys.readouterr().out)
    assert (project / "out.html").stat().st_mode & 0o777 == 0o600
    assert main(["report", "last", "-o", "out.html"]) == 2
    assert main(["open", "out.html"]) == 0
    assert f"out: cases/{case.id}\nout: runs/r1\n" in capsys.readouterr().out
    os.chdir(project / "out")
    assert main(["case", "show", case.id]) == 0
    assert "log-of-zero at train.py:6" in capsys.readouterr().out


def test_a_report_as_markdown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = opened(project)
    assert main(["report", case.id[:15], "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith(f"<!-- firstcause -->\n# Case {case.id}: diagnosed\n")
    assert main(["report", "r1", "--format", "markdown", "-o", "run.md"]) == 0
    assert "# Run r1" in (project / "run.md").read_text()


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        (["report", "nothing"], "is no run and no case"),
        (["report", "r1", "-o", "missing/out.html"], "cannot be made"),
        (["open", "missing.html"], "cannot be read"),
        (["open", "train.py"], "holds no record"),
        (["view", "r1", "--port", "99999999"], "cannot be used"),
    ],
)
def test_what_cannot_be_shown_says_why(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], slug: str
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert slug in said
    assert "next: " in said


def test_watch_says_where_a_finished_run_stands(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "r1"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert (
        first == "rank-0-100: step 119 · loss nan · gradient norm inf · learning rate 0.001 · 0.02 s a step"
    )
    assert last.startswith("firstcause: failed: nan: the loss became nan")


def address_of(process: subprocess.Popen[bytes], descriptor: int) -> str:
    said = b""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        said += os.read(descriptor, 4096)
        if found := re.search(rb"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}\r?\n", said):
            return found[0].decode().strip()
    raise AssertionError(f"no address in {said!r}")


def asked(address: str, path: str) -> str:
    with urllib.request.urlopen(re.sub(r"/\?", f"/{path}?", address), timeout=20) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("at_terminal", [True, False])
def test_view_approves_only_where_a_person_started_it(project: Path, at_terminal: bool) -> None:
    case = opened(project)
    ours, theirs = pty.openpty() if at_terminal else os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "view", case.id],
        stdin=theirs if at_terminal else subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=project,
        start_new_session=True,
    )
    try:
        address = address_of(process, ours)
        assert f'data-start="#case/{case.id}"' in asked(address, "")
        assert f'"able":{"true" if at_terminal else "false"}' in asked(address, f"api/cases/{case.id}")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            asked(re.sub("token=.*", "token=x", address), "")
        # A page that is open and follows the run when the server ends.
        live = urllib.request.urlopen(address.replace("/?", "/api/live?kind=home&"), timeout=20)
        assert live.readline() == b": open\n"
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        os.close(ours)
        os.close(theirs)
    live.close()
    assert (process.returncode, said) == (130, b"Ctrl-C ends it\n")
