"""A test of the program itself: red while it fails as it did, green once it gets past that step."""

from __future__ import annotations

import os

from firstcause.minimize.reproduce import Reproduction
from firstcause.minimize.said import plainly
from firstcause.record.folder import RunFolder

# The exit code of a program that got past the step; none of Python's own.
PAST = 93
TEXT = '''\
"""{title}

Written by `firstcause minimize --pytest`. The program runs in a process of its own, as it was started; it is ended once it
is two steps past that one, and with several processes not before its end. The smallest script that fails in the same way:

{script}
"""

import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), {folder!r})
COMMAND = {command!r}
STEPS = {steps}
PAST = {past}
WATCH = """
import os, runpy, sys
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

steps, *sys.argv = sys.argv[1:]
made, process = [], os.getpid()

def stepping(optimizer, args, kwargs):
    grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    assert all(torch.isfinite(g).all() for g in grads), f"a gradient of step {{len(made) + 1}} is not finite"
    made.append(1)
    # A rank that left its others would be a failure of theirs: they go on to the end.
    if len(made) > int(steps) and os.getpid() == process:
        sys.stdout.flush()
        os._exit({past})

register_optimizer_step_pre_hook(stepping)
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_{name}():
    done = subprocess.run([sys.executable, "-c", WATCH, str(STEPS), *COMMAND], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode in (0, PAST), done.stderr[-2000:]
'''


def regression_test(folder: RunFolder, step: int | None, result: Reproduction, output: str) -> str | None:
    """The text of a test file that is to lie at ``output``; None where the command is no script of Python's.

    ``step`` is how many optimizer steps the program had made when it failed; None where that is not known, then it runs to
    its end.
    """
    run = folder.run()
    words = list(run.command)
    if words and os.path.basename(words[0]).startswith("python"):
        words = words[1:]
    if not words or not words[0].endswith(".py"):
        return None
    what = result.failure.get("what", "")
    said = plainly(result.ends)
    place = os.path.relpath(run.folder, os.path.dirname(os.path.abspath(output)))
    return TEXT.format(
        title=_quoted(f"{words[0]} failed{'' if step is None else f' after {step} steps'}: {said[:90]}"),
        script=_quoted("\n".join(f"    {line}".rstrip() for line in result.script.splitlines())),
        folder=place,
        command=words,
        steps=1 << 40 if step is None else step + 2,
        past=PAST,
        name=_name(words[0], what),
    )


def _quoted(text: str) -> str:
    """What a docstring may hold."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _name(script: str, what: str) -> str:
    stem = os.path.splitext(os.path.basename(script))[0]
    return "".join(c if c.isalnum() else "_" for c in f"{stem}_gets_past_{what}".lower())
