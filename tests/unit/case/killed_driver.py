"""Works a case from its opening to its close, each step acknowledged on standard output; dies where it is told to.

python killed_driver.py, then a line "KILL_AT PROJECT" each: a process of its own works that project and gets SIGKILL
before the operation of that number that changes the disk (0: never); "ended CODE" says how it came out.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from case.samples import FIXED, PROGRAM, diagnosis, unified
from firstcause.case import (
    CaseFolder,
    Verification,
    all_cases,
    apply,
    approve,
    close,
    diagnosis_hash,
    diff_hash,
    open_case,
    reject,
    verify,
)
from firstcause.diagnose import precedents

YES = {"symptom": "y", "scope": "t", "side-effect": "y"}
SECOND = FIXED + "# again\n"
BOTH = {"data.py": ("SEED = 1\n", "SEED = 3\n"), "train.py": (PROGRAM, FIXED)}
LAST = {"data.py": ("SEED = 3\n", "SEED = 4\n"), "train.py": (FIXED, SECOND)}


def counting(kill_at: int) -> list[int]:
    """Wraps what changes the disk so that the process dies before the operation of this number."""
    done = [0]

    def wrap(module: Any, name: str, changes: Any = lambda *a: True) -> None:
        act = getattr(module, name)

        def wrapped(*a: Any, **k: Any) -> Any:
            if changes(*a, *k.values()):
                done[0] += 1
                if done[0] == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
            return act(*a, **k)

        setattr(module, name, wrapped)

    for name in ("fsync", "replace", "unlink", "mkdir", "pwrite", "ftruncate"):
        wrap(os, name)
    wrap(os, "write", lambda fd, *_: fd > 2)
    wrap(os, "open", lambda path, flags, *_: flags & os.O_CREAT)
    wrap(builtins, "open", lambda path, mode="r", *_: "w" in str(mode))
    return done


def step(cwd: str, root: str) -> str:
    """The step that is due, done; its name, or an empty text where the case is closed and whole."""
    cases = all_cases(root)
    state = cases[-1].progress().case.state if cases else "none"
    folder = cases[-1] if cases else CaseFolder(os.path.join(root, "cases", "none"))
    attempts = len(folder.progress().attempts) if cases else 0
    rejected = bool(cases and folder.progress().rejections)
    if state in ("none", "open", "characterised", "hypotheses"):
        cause, diff = ("log-of-zero", BOTH) if attempts == 0 else ("nan-in-data", LAST)
        open_case(root, "r1", os.path.join(root, "runs", "r1"), diagnosis(cause, diff=unified(diff)))
        return "open"
    if state == "diagnosed" and not rejected:
        reject(folder, "look again", "tester")
        return "reject"
    if state == "diagnosed":
        shown = folder.progress().case.diagnosis
        assert shown is not None
        approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)
        return "approve"
    if state == "approved":
        apply(folder, cwd)
        return "apply"
    if state == "fixed":
        verify(folder, cwd, lambda: Verification(attempts == 2, f"run {attempts}"))
        return "verify"
    if state == "verified" or not precedents.read(cwd):
        close(folder, "both files")
        return "close"
    return ""


def work(cwd: str, kill_at: int) -> None:
    root = os.path.join(cwd, ".firstcause")
    done = counting(kill_at)
    while name := step(cwd, root):
        progress = all_cases(root)[-1].progress()
        print(name, progress.events, progress.case.state, flush=True)
    print("operations", done[0], "end", flush=True)


def main() -> None:
    # A fork of what is imported already: a start of Python for each would cost ten times as much.
    for line in sys.stdin:
        kill_at, _, cwd = line.rstrip("\n").partition(" ")
        child = os.fork()
        if child == 0:
            work(cwd, int(kill_at))
            return
        print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
