"""The fork itself: the parent waits for its child, ends it in time, and notices nothing else of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from sealed_program import environment


def test_the_childs_exit(split):
    assert split("os._exit(3)", before="import os").outcome == {
        "status": "done",
        "exit_code": 3,
        "signal": None,
        "seconds": pytest.approx(0.1, abs=2),
        "reason": "",
    }


def test_leaving_runs_and_waits_for_nothing(split):
    result = split(
        """
        import threading
        threading.Thread(target=threading.Event().wait).start()
        atexit.register(print, "child")
        from firstcause.sandbox import lifetime
        lifetime.leave(4)
        """,
        before="import atexit; atexit.register(print, 'parent')",
    )
    assert (result.outcome["exit_code"], result.stdout) == (4, "parent\n")


def test_a_child_that_crashes(split):
    outcome = split(
        "import ctypes; ctypes.string_at(0)", before="import faulthandler; faulthandler.enable()"
    ).outcome
    assert (outcome["status"], outcome["signal"], outcome["exit_code"]) == ("killed", signal.SIGSEGV, None)


def test_a_child_that_does_not_end(split):
    outcome = split(
        """
        import signal, threading
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        threading.Event().wait()
        """,
        seconds=0.3,
    ).outcome
    assert (outcome["status"], outcome["signal"]) == ("timeout", signal.SIGKILL)
    assert 0.3 <= outcome["seconds"] < 3


def test_no_pidfd(split):
    """Linux before 5.3."""
    before = "import posix; del posix.pidfd_open"
    assert split("import os; os._exit(3)", before=before).outcome["exit_code"] == 3
    outcome = split("import threading; threading.Event().wait()", before=before, seconds=0.3).outcome
    assert outcome["status"] == "timeout"


def test_where_the_seal_fails(split):
    """The scratch folder cannot be made: nothing of the program runs, and the parent is told."""
    result = split("open('ran', 'w')", before="open('../scratch', 'w').close()")
    assert result.outcome["status"] == "seal-failed"
    assert result.outcome["exit_code"] == 70


def test_why_the_seal_failed(split):
    result = split("pass", before="import resource; resource.setrlimit = None")
    assert result.outcome["status"] == "seal-failed"
    assert result.outcome["reason"] == "TypeError: 'NoneType' object is not callable"


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("handling", ["count", "signal.SIG_IGN", "signal.SIG_DFL"])
def test_sigchld_is_not_heard(split, handling, threads):
    result = split(
        "import os; os._exit(5)",
        before=f"""
        import signal, threading, time
        heard = []
        def count(number, frame):
            heard.append(number)
        signal.signal(signal.SIGCHLD, {handling})
        if {threads}:
            for _ in range(3):
                threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        """,
        after=f"""
        time.sleep(0.01)
        after["heard"] = list(heard)
        after["handler"] = signal.getsignal(signal.SIGCHLD) == {handling}
        import os
        child = os.fork()
        if not child:
            os._exit(0)
        time.sleep(0.2)
        after["own"] = len(heard)
        """,
    )
    assert result.outcome["exit_code"] == 5
    assert result.after == {"heard": [], "handler": True, "own": 1 if handling == "count" else 0}


def test_the_death_of_the_programs_own_child_is_made_up_for(split):
    result = split(
        "import threading; threading.Event().wait(0.5)",
        before="""
        import os, signal, time
        heard = []
        signal.signal(signal.SIGCHLD, lambda number, frame: heard.append(os.waitpid(own, 0)[0] == own))
        own = os.fork()
        if not own:
            time.sleep(0.4)
            os._exit(0)
        """,
        after="time.sleep(0.01); after['heard'] = heard",
    )
    assert result.after == {"heard": [True]}


def test_blocked_sigchld_stays_as_it_was(split):
    result = split(
        "pass",
        before="import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])",
        after="""
        after["pending"] = signal.SIGCHLD in signal.sigpending()
        after["blocked"] = signal.pthread_sigmask(signal.SIG_BLOCK, []) == {signal.SIGCHLD}
        """,
    )
    assert result.after == {"pending": False, "blocked": True}


def test_no_warning_about_threads(split):
    result = split(
        "pass",
        before="""
        import threading, time, warnings
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        filters = list(warnings.filters)
        def noisy():
            warnings.warn("once", UserWarning)
        warnings.simplefilter("default", UserWarning)
        noisy()
        filters = list(warnings.filters)
        """,
        after="""
        after["filters"] = warnings.filters == filters
        noisy()
        """,
        flags=("-W", "error"),
    )
    assert result.outcome["status"] == "done"
    assert result.after["filters"]
    assert result.stderr.count("UserWarning: once") == 1, "the program's own warning was shown again"


def test_random_numbers_are_those_of_the_parent(split):
    result = split(
        "seen['next'] = random.random()",
        before="import random; random.seed(3)",
        after="after['next'] = random.random()",
    )
    assert result.seen == result.after


def test_handlers_are_reset_in_the_child(split):
    seen = split(
        """
        seen["handlers"] = [signal.getsignal(n) == signal.SIG_DFL for n in (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM)]
        seen["interrupt"] = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)
        seen["blocked"] = len(signal.pthread_sigmask(signal.SIG_BLOCK, []))
        """,
        before="""
        import signal
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, print)
        """,
    ).seen
    assert seen == {"handlers": [True] * 3, "interrupt": True, "blocked": 0}


def test_a_child_that_would_not_fit(split):
    result = split(
        "pass",
        before="from firstcause.sandbox import memory; memory.headroom = lambda: 1 << 20",
    )
    assert result.outcome["status"] == "no-memory"
    assert result.outcome["reason"].startswith("1 MiB are free, ")


def test_a_fork_that_fails(split):
    result = split(
        "pass", before="import posix\ndef full():\n    raise BlockingIOError(11, 'full')\nposix.fork = full"
    )
    assert (result.outcome["status"], result.outcome["reason"]) == ("fork-failed", "[Errno 11] full")


WAITING = """
import os, signal, sys, threading
from firstcause.sandbox.fork import split
try:
    if split(sys.argv[1], frozenset((1,)), 60) is None:
        os.write(1, b"%d\\n" % os.getpid())
        threading.Event().wait()
except KeyboardInterrupt:
    print("interrupted")
"""


def start_waiting(tmp_path: Path) -> tuple[subprocess.Popen[str], int]:
    program = tmp_path / "waiting.py"
    program.write_text(textwrap.dedent(WAITING))
    parent = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path / "scratch")],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


def ended(process: int) -> bool:
    """Whether a process of another parent is gone within five seconds."""
    for _ in range(500):
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_the_child_dies_with_its_parent(tmp_path):
    parent, child = start_waiting(tmp_path)
    assert Path(f"/proc/{child}/oom_score_adj").read_text() == "1000\n"
    parent.kill()
    parent.wait()
    assert ended(child)


def test_an_interrupt_of_the_parent_ends_the_child(tmp_path):
    parent, child = start_waiting(tmp_path)
    os.kill(child, signal.SIGINT)
    os.kill(parent.pid, signal.SIGINT)
    output, _ = parent.communicate(timeout=10)
    assert (output, parent.returncode) == ("interrupted\n", 0)
    assert ended(child)
