"""A hostile program: where it lies, how it is launched, and what its header comments say of it.

Header lines stand in the first lines of the file, all of them optional:

    # launch: python {file} --lr 1     the command, in shell quoting; ``python`` is the interpreter under test
    # expect-exit: 3                   128 + n for a death by signal n
    # stdin: 1 2\\n3\\n                  text with escapes
    # env: A=1 B=2                     set for the command
    # scrub: REGEX                     volatile text of the program's own; may be repeated
    # own-abort: TEXT                  on stderr where a library of the program's ends it now and then: run anew
    # journals: 1                      so many observed processes must have left steps in the record
    # needs: transformers              skipped where a module is missing
    # python: 3.11                     skipped on older interpreters
    # send: SIGTERM [group]            sent to the command's process, or its group, once "ready" stands on stdout
    # terminal: yes\\n                  run on a terminal; typed once "ready" stands on it; a second one at the second
    # slow                             run only with the marker ``slow``
    # known-difference: why            a limit of the recorder that is stated in the docs; must still differ
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
_KEYS = (
    "launch|expect-exit|stdin|env|scrub|own-abort|journals|needs|python|send|terminal|slow|known-difference"
)
_HEADER = re.compile(rf"^\ufeff?# ({_KEYS})(?:: ?(.*?))?\r?$", re.M)
_HEADER_BYTES = 1000


@dataclass(frozen=True)
class Program:
    """One program: its name, the file that carries the header, and the headers as they stand."""

    name: str
    path: Path
    headers: tuple[tuple[str, str], ...]

    def all(self, key: str) -> list[str]:
        return [value for name, value in self.headers if name == key]

    def get(self, key: str) -> str | None:
        return next(iter(self.all(key)), None)

    def text(self, key: str) -> bytes | None:
        value = self.get(key)
        return None if value is None else value.encode().decode("unicode_escape").encode()

    @property
    def script(self) -> str:
        """The file as the command names it, in a working folder that `copy_to` has filled."""
        home = PROGRAMS if self.path.parent == PROGRAMS else PROGRAMS / self.name
        return str(self.path.relative_to(home))

    @property
    def command(self) -> list[str]:
        line = (self.get("launch") or "python {file}").replace("{file}", self.script)
        return [sys.executable if word == "python" else word for word in shlex.split(line)]

    @property
    def exit_code(self) -> int:
        return int(self.get("expect-exit") or 0)

    @property
    def journals(self) -> int:
        return int(self.get("journals") or 0)

    @property
    def environment(self) -> dict[str, str]:
        return dict(word.split("=", 1) for word in (self.get("env") or "").split())

    @property
    def signal(self) -> int | None:
        name = self.get("send")
        return None if name is None else signal.Signals[name.split()[0]]

    @property
    def to_group(self) -> bool:
        return (self.get("send") or "").endswith(" group")

    @property
    def typed(self) -> list[bytes] | None:
        texts = [value.encode().decode("unicode_escape").encode() for value in self.all("terminal")]
        return texts or None

    def copy_to(self, folder: Path) -> None:
        """Fill a fresh folder with the program; raises where the folder exists."""
        if self.path.parent == PROGRAMS:
            folder.mkdir()
            shutil.copy2(self.path, folder)
        else:
            shutil.copytree(PROGRAMS / self.name, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def skip_reason(self) -> str | None:
        missing = [m for m in (self.get("needs") or "").split() if importlib.util.find_spec(m) is None]
        if missing:
            return f"needs {', '.join(missing)}"
        oldest = self.get("python")
        if oldest and sys.version_info < tuple(map(int, oldest.split("."))):
            return f"needs Python {oldest}"
        return None


def _headers(path: Path) -> tuple[tuple[str, str], ...]:
    # Latin-1 reads any bytes, and the sources' encodings are part of what is hostile about them.
    raw = path.read_bytes()[:_HEADER_BYTES]
    text = raw.decode("latin-1" if b"coding: latin-1" in raw else "utf-8", "ignore")
    return tuple((m[1], m[2] or "") for m in _HEADER.finditer(text))


def programs() -> list[Program]:
    """Every program, in order of name; a folder's program is the one file in it that has a header."""
    found = []
    for entry in sorted(PROGRAMS.iterdir()):
        files = [entry] if entry.suffix == ".py" else sorted(entry.rglob("*.py")) if entry.is_dir() else []
        found += [Program(entry.stem, f, _headers(f)) for f in files if f.parent == PROGRAMS or _headers(f)]
    return found


def parameters() -> list[object]:
    """The programs as pytest parameters, with their marks."""
    params = []
    for program in programs():
        reason = program.skip_reason()
        marks = [pytest.mark.slow] * (program.get("slow") is not None)
        marks += [pytest.mark.skip(reason=reason)] * (reason is not None)
        params.append(pytest.param(program, id=program.name, marks=marks))
    return params
