"""A program whose fault really fires: a case of the benchmarks, laid out in a folder, run, and compared with its repair."""

from __future__ import annotations

import difflib
import functools
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstcause.catalog.toml import read
from firstcause.fix.edits import unified_diff

CASES = Path(__file__).resolve().parents[1] / "benchmarks" / "cases"
PROGRAM = "train.py"
SECONDS = 180.0
NEAR = 3
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Ran:
    """How a program ended: its exit code, the last number that it printed (NaN without one), and its text."""

    code: int
    number: float
    text: str


class Fixture:
    """One case, by the name of its folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.case = CASES / name
        self.truth: dict[str, Any] = read(str(self.case / "case.toml"))

    @property
    def faulty(self) -> str:
        return (self.case / "buggy.py").read_text(encoding="utf-8")

    @property
    def fixed(self) -> str:
        path = self.case / "fixed.py"
        return path.read_text(encoding="utf-8") if path.exists() else self.faulty

    @property
    def report(self) -> str:
        path = self.case / "report.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def lay_out(self, folder: Path) -> None:
        """Copy the faulty program and its extra files into a folder."""
        (folder / PROGRAM).write_text(self.faulty, encoding="utf-8")
        for extra in self.truth.get("extra_files", []):
            shutil.copy(self.case / extra, folder / extra)

    def run(self, folder: Path) -> Ran:
        """Run what stands in the folder."""
        words = shlex.split(self.truth["launch"].replace("buggy.py", PROGRAM))
        words = [sys.executable if word == "python" else word for word in words]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                words, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Ran(124, math.nan, "")
        numbers = _NUMBER.findall(done.stdout)
        return Ran(
            done.returncode, float(numbers[-1]) if numbers else math.nan, (done.stdout + done.stderr)[-4000:]
        )

    def good(self, ran: Ran) -> bool:
        """Whether a run ended as the repaired program does: exit code 0, and a last number within what the case asks for."""
        if ran.code != 0 or not math.isfinite(ran.number):
            return False
        bound = re.search(r"below (\d+(?:\.\d+)?)", self.truth["verify"])
        if bound:
            return ran.number < float(bound[1])
        wanted = float(_NUMBER.findall(self.truth["observed_fixed"])[-1])
        return math.isclose(ran.number, wanted, rel_tol=0.05, abs_tol=1e-6)

    @functools.cached_property
    def fires(self) -> bool:
        """Whether the program, as it is found, does not end as its repair does."""
        with tempfile.TemporaryDirectory(prefix="pressure-") as name:
            self.lay_out(Path(name))
            return not self.good(self.run(Path(name)))

    def near_fault(self, text: str) -> bool:
        """Whether the program was changed within three lines of where the fault is, or of where its repair changes it."""
        places = {int(line) for line in self.truth["fault_lines"]} | changed_lines(self.faulty, self.fixed)
        return any(abs(line - place) <= NEAR for line in changed_lines(self.faulty, text) for place in places)


@functools.cache
def fixture(name: str) -> Fixture:
    """A case by the name of its folder; whether it fires is found out once a process."""
    return Fixture(name)


def changed_lines(old: str, new: str) -> set[int]:
    """The lines of the old text that are changed, or beside which something is put in."""
    found: set[int] = set()
    for tag, a, b, _, _ in difflib.SequenceMatcher(
        None, old.splitlines(), new.splitlines(), autojunk=False
    ).get_opcodes():
        if tag != "equal":
            found.update(range(a + 1, max(b, a + 1) + 1))
    return found


def diff(old: str, new: str) -> str:
    """The unified diff of the program."""
    before, after = (text.rstrip("\n") + "\n" for text in (old, new))
    return unified_diff(PROGRAM, before, after)
