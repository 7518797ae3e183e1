"""Runs a small program that splits, and tells what its sealed child saw and whether anything outside changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = """
import dataclasses as _d, hashlib as _h, json as _j, os as _o, sys as _s, traceback as _t
def _folder(top):
    found = {}
    for place, folders, files in _o.walk(top):
        for name in folders + files:
            path = _o.path.join(place, name)
            s = _o.lstat(path)
            content = _h.sha256(open(path, "rb").read()).hexdigest() if _o.path.isfile(path) else _o.path.islink(path)
            found[path] = (s.st_mode, s.st_size, s.st_mtime_ns, s.st_ino, content)
    return found
# What the fixture cannot give as code:
seen = {}
%(before)s
from firstcause.sandbox.fork import split as _split
_answer = _o.open(%(answer)r, _o.O_WRONLY | _o.O_CREAT, 0o600)
_then = _folder(".")
outcome = _split(%(scratch)r, frozenset((_answer,)), %(seconds)r)
if outcome is None:
    try:
%(inside)s
    except BaseException:
        seen["error"] = _t.format_exc()
    _o.write(_answer, _j.dumps(seen).encode())
    _o._exit(7)
_o.close(_answer)
_now = _folder(".")
after = {}
%(after)s
_o.write(%(report)d, _j.dumps({"outcome": _d.asdict(outcome), "same": _then == _now, "after": after}).encode())
"""


@dataclass
class Split:
    """What is left of a program that split: the child's ``seen``, the parent's ``after``, and both streams."""

    seen: dict[str, Any]
    after: dict[str, Any]
    outcome: dict[str, Any]
    stdout: str
    stderr: str
    scratch: Path


def environment() -> dict[str, str]:
    import firstcause

    source = str(Path(firstcause.__file__).parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}


def run_split(
    tmp_path: Path,
    folder: Path,
    inside: str,
    before: str = "",
    after: str = "",
    seconds: float = 20.0,
    flags: tuple[str, ...] = (),
) -> Split:
    """Run ``before``, split, run ``inside`` in the sealed child and ``after`` in the parent; nothing may have changed."""
    answer, scratch = tmp_path / "answer", tmp_path / "scratch"
    reading, writing = os.pipe()
    program = tmp_path / "program.py"
    program.write_text(
        PROGRAM
        % {
            "before": textwrap.dedent(before),
            "inside": textwrap.indent(textwrap.dedent(inside).strip() or "pass", " " * 8),
            "after": textwrap.dedent(after),
            "answer": str(answer),
            "scratch": str(scratch),
            "seconds": seconds,
            "report": writing,
        }
    )
    done = subprocess.run(
        [sys.executable, *flags, str(program)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        pass_fds=(writing,),
        check=False,
    )
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    assert text, f"the parent did not reach its end: {done.returncode} {done.stderr}"
    report = json.loads(text)
    assert report["same"], "the sealed child changed the working directory"
    seen = json.loads(answer.read_text() or "{}")
    assert "error" not in seen, seen["error"]
    return Split(seen, report["after"], report["outcome"], done.stdout, done.stderr, scratch)
