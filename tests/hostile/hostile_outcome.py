"""Running a command once and keeping all that it did; two outcomes are compared as text."""

from __future__ import annotations

import difflib
import hashlib
import marshal
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hostile_launch import on_pipes, on_terminal

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Outcome:
    """What one run did: output with volatile parts scrubbed, exit code, files, leftovers in TMPDIR."""

    stdout: str
    stderr: str
    exit_code: int
    files: Mapping[str, object]
    leftovers: int

    def lines(self) -> list[str]:
        parts = {
            "exit code": [str(self.exit_code)],
            "stdout": self.stdout.splitlines(),
            "stderr": self.stderr.splitlines(),
            "files": [f"{name}: {content}" for name, content in self.files.items()],
            "left in TMPDIR": [str(self.leftovers)],
        }
        return [line for title, text in parts.items() for line in (f"[{title}]", *text)]


def difference(plain: Outcome, recorded: Outcome) -> str:
    """A unified diff of two outcomes, empty where they are the same."""
    if plain == recorded:
        return ""
    lines = list(difflib.unified_diff(plain.lines(), recorded.lines(), "plain", "recorded", n=2, lineterm=""))
    return "\n".join(lines) or f"equal as text, unequal as recorded:\n{plain!r}\n{recorded!r}"


def _code_digest(code: object) -> object:
    # A .pyc holds the source's mtime, and marshal's references vary: what counts is the code that a later,
    # unobserved run would take from the cache.
    if not hasattr(code, "co_code"):
        return repr(sorted(map(repr, code)) if isinstance(code, frozenset) else code)
    constants = [_code_digest(constant) for constant in code.co_consts]
    parts = (code.co_name, code.co_code, code.co_names, code.co_firstlineno, constants)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _content(path: Path) -> object:
    mode = oct(path.lstat().st_mode)
    if path.is_symlink():
        return mode, os.readlink(path)
    if path.is_dir():
        return mode, "folder"
    data = path.read_bytes()
    if path.suffix == ".pyc":
        return mode, _code_digest(marshal.loads(data[16:]))
    return mode, hashlib.sha256(data).hexdigest()


def snapshot(folder: Path) -> dict[str, object]:
    """Every file beneath a folder with its mode and content, but for firstcause's own records."""
    paths = sorted(p for p in folder.rglob("*") if ".firstcause" not in p.relative_to(folder).parts)
    return {str(p.relative_to(folder)): _content(p) for p in paths}


def run(
    command: Sequence[str],
    fill: Callable[[Path], None],
    folder: Path,
    *,
    environment: Mapping[str, str],
    stdin: bytes | None = None,
    signal: int | None = None,
    to_group: bool = False,
    typed: Sequence[bytes] | None = None,
    scrub: Sequence[str] = (),
) -> Outcome:
    """Run a command once in a fresh ``folder``, which is gone afterwards; raises past a time limit."""
    fill(folder)
    # Short, since loader workers' sockets lie beneath it and their paths are limited.
    scratch = tempfile.mkdtemp(prefix="h")
    env = _environment({**environment, "TMPDIR": scratch, "HOME": scratch})
    try:
        if typed is None:
            code, out, err = on_pipes(command, folder, env, stdin, signal, to_group)
        else:
            (code, out), err = on_terminal(command, folder, env, typed), b""
        return Outcome(
            _scrubbed(out, scrub, scratch),
            _scrubbed(err, scrub, scratch),
            code if code >= 0 else 128 - code,
            snapshot(folder),
            len(os.listdir(scratch)),
        )
    finally:
        shutil.rmtree(scratch)
        shutil.rmtree(folder)


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    ours = ("PYTEST", "PYTHON", "FIRSTCAUSE", "COVERAGE", "COV_CORE", "COLUMNS", "LINES")
    env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    path = os.pathsep.join([os.path.dirname(sys.executable), env.get("PATH", os.defpath)])
    return {**env, "PATH": path, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "TERM": "dumb", **extra}


def _scrubbed(output: bytes, patterns: Sequence[str], scratch: str) -> str:
    text = output.decode("utf-8", "backslashreplace").replace(scratch, "TMPDIR")
    text = _ADDRESS.sub("0xADDRESS", text)
    for pattern in patterns:
        text = re.sub(pattern, "SCRUBBED", text)
    return text
