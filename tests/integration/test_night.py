"""At night: what becomes of the program at its first NaN, who is told of it, and that nothing else changes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recording import COMMAND, PROGRAMS, environment, firstcause, record, the_run

STEPS = "".join(f"step {n}\n" for n in range(6))
PLAIN = (5, STEPS + "let go\natexit\n")


@pytest.mark.slow
def test_by_itself_nothing_changes(tmp_path: Path) -> None:
    done = record(tmp_path, "ends_its_own_way", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (*PLAIN, "")


def test_stop_ends_the_program_in_its_own_way(tmp_path: Path) -> None:
    done = record(tmp_path, "ends_its_own_way", "-q", "--on-nan", "stop")
    assert done.stdout == "step 0\nstep 1\nstep 2\nlet go\natexit\n"
    assert done.returncode == 86
    assert (
        done.stderr
        == "firstcause: stopped before step 3: 2 of 2 gradients are not finite (--on-nan stop, exit code 86)\n"
    )
    run = the_run(tmp_path).run()
    assert [s.kind for s in run.symptoms] == ["nan"]
    assert the_run(tmp_path).failures()[0]["replay"]["exact"]


@pytest.mark.slow
def test_stop_in_another_thread_ends_the_whole_program(tmp_path: Path) -> None:
    inner = (PROGRAMS / "ends_its_own_way.py").read_text().partition("with held():")[2]
    body = "".join(f"    {line}\n" for line in inner.split("sys.exit")[0].splitlines())
    text = f"import threading, torch\nfrom torch import nn\nmodel = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\ndef work():\n    if True:\n{body}\nt = threading.Thread(target=work)\nt.start()\nt.join()\nprint('end')\n"
    (tmp_path / "train.py").write_text(text)
    done = firstcause(tmp_path, "run", "-q", "--on-nan", "stop", sys.executable, "train.py")
    assert "step 2\n" in done.stdout
    assert "end\n" not in done.stdout
    assert done.returncode == -signal.SIGTERM, done.stderr


@pytest.mark.parametrize("to_supervisor", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_pause_waits_for_a_signal(tmp_path: Path, to_supervisor: bool) -> None:
    (tmp_path / "train.py").write_bytes((PROGRAMS / "ends_its_own_way.py").read_bytes())
    command = [
        *COMMAND,
        "run",
        "-q",
        "--on-nan",
        "pause",
        "--pause-limit",
        "100s",
        sys.executable,
        "train.py",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=-1, stderr=-1, text=True
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "paused before step 3" in line
        inner = int(line.split("in process ")[1].split(":")[0])
        assert f"kill -CONT {inner}; it goes on by itself after 100 s" in line
        time.sleep(0.5)
        assert process.poll() is None
        os.kill(process.pid if to_supervisor else inner, signal.SIGCONT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == PLAIN
    assert "goes on with step 3" in err
    assert err.strip().endswith("SIGCONT")


@pytest.mark.slow
def test_pause_goes_on_by_itself_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    done = record(tmp_path / "a", "ends_its_own_way", "-q", "--on-nan", "pause", "--pause-limit", "1")
    assert (done.returncode, done.stdout) == PLAIN
    assert "the limit" in done.stderr.splitlines()[-1]
    (tmp_path / "train.py").write_bytes((PROGRAMS / "ends_its_own_way.py").read_bytes())
    command = [*COMMAND, "run", "-q", "--on-nan", "pause", sys.executable, "train.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=-1, stderr=-1, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert "paused" in process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert out.endswith("let go\natexit\n")
    assert "KeyboardInterrupt" in err


HOOK = 'env | grep ^FIRSTCAUSE_ | sort > told; echo "to the log"; cat'


def test_a_failure_is_told_once_with_what_is_known(tmp_path: Path) -> None:
    done = record(tmp_path, "ends_its_own_way", "--on-failure", HOOK)
    assert (done.returncode, done.stdout) == PLAIN
    *_, last, hook = done.stderr.splitlines()
    assert last.startswith("firstcause: failed: nan: 2 of 2 gradients are not finite")
    assert "exit code 5 after" in last
    assert hook == "to the log"
    told = dict(line.split("=", 1) for line in (tmp_path / "told").read_text().splitlines())
    assert told["FIRSTCAUSE_SUMMARY"] == last
    assert told["FIRSTCAUSE_RUN"] == the_run(tmp_path).path
    assert (told["FIRSTCAUSE_SYMPTOM"], told["FIRSTCAUSE_STEP"], told["FIRSTCAUSE_EXIT_CODE"]) == (
        "nan",
        "3",
        "5",
    )


@pytest.mark.parametrize(
    ("hook", "said"),
    [("exit 3", "code 3"), ("kill -9 $$", "signal 9"), ("no-such-command-at-all", "code 127")],
)
def test_a_hook_that_fails_is_one_line(tmp_path: Path, hook: str, said: str) -> None:
    (tmp_path / "a.py").write_text("import sys\nprint('out')\nsys.exit(7)\n")
    done = firstcause(tmp_path, "run", "-q", "--on-failure", hook, sys.executable, "a.py")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert f"firstcause: --on-failure ended with {said} after" in done.stderr
    assert the_run(tmp_path).run().exit_code == 7


def test_no_failure_no_hook(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print('out')\n")
    done = firstcause(tmp_path, "run", "--on-failure", "touch called", sys.executable, "a.py")
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert not (tmp_path / "called").exists()
    assert done.stderr.splitlines()[-1].startswith("firstcause: no symptom · exit code 0 after")
    (tmp_path / "b.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    firstcause(tmp_path, "run", "--on-failure", "touch called", sys.executable, "b.py")
    assert not (tmp_path / "called").exists()


@pytest.mark.slow
def test_pause_waits_for_a_key_at_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes((PROGRAMS / "ends_its_own_way.py").read_bytes())
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.execve(
            sys.executable,
            [*COMMAND, "run", "-q", "--on-nan", "pause", sys.executable, "train.py"],
            environment(),
        )
    seen, typed = b"", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if b"goes on by itself" in seen and not typed:
            assert b"or Enter at this terminal" in seen
            os.write(terminal, b"\n")
            typed = True
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 5
    assert b"a key" in seen
    assert b"step 5" in seen
