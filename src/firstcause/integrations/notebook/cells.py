"""The cells that led to a state, as one script: what the kernel ran, in the order in which it ran it."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.errors import InputError
from firstcause.source.notebooks import Notebook

NAME = "firstcause_cells.py"
HEADER = "# The cells of a notebook in the order in which they ran; written by firstcause, and again the next time.\n"
# Magics that run the statement behind them, change the folder, and run a file.
_TIMED = re.compile(r"^([ \t]*)%(?:time|timeit|prun|memit)[ \t]+(?![-\s])", re.MULTILINE)
_CHANGED = re.compile(r"^([ \t]*)%cd[ \t]+(?![-~])(\S.*)$", re.MULTILINE)
_RUN = re.compile(r"^([ \t]*)%run[ \t]+(?!-)(\S+\.py\b.*)$", re.MULTILINE)
# In a kernel it is there without an import.
DISPLAY = "from IPython.display import display\n"


@dataclass(frozen=True)
class Cell:
    """A cell that was run: its execution count, and what stood in it."""

    count: int
    text: str


class Script:
    """Cells as Python, magics and shell lines left out; ``path`` is where it is written for a run."""

    def __init__(self, cells: Sequence[Cell], folder: str) -> None:
        self.cells = list(cells)
        self.path = os.path.join(folder, NAME)
        raw = json.dumps({"cells": [{"cell_type": "code", "source": _as_python(c.text)} for c in cells]})
        self.notebook = Notebook(self.path, NAME, raw.encode())
        self.head = HEADER + (DISPLAY if re.search(r"\bdisplay\(", self.notebook.text) else "")

    def write(self) -> None:
        """Raises ``InputError`` where the file cannot be written, or is one of the user's own."""
        try:
            if os.path.exists(self.path):
                with open(self.path, encoding="utf-8", errors="replace") as file:
                    if file.readline() != HEADER:
                        message = f"{self.path} is there already, and firstcause has not written it"
                        raise InputError("cells-taken", message, "move it or give it another name")
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(self.head + self.notebook.text)
        except OSError as error:
            message = f"{self.path} cannot be written: {error.strerror}"
            raise InputError("cells-unwritable", message, "change to a folder that can be written") from error

    def place(self, line: int) -> str:
        """Where a line of the script stands in the notebook; empty for a line of the head."""
        number, within = self.notebook.cell(line - self.head.count("\n"))
        return f"line {within} of In [{self.cells[number - 1].count}]" if number else ""

    def legend(self, text: str) -> list[str]:
        """The places of all lines of the script that a text names."""
        lines = sorted({int(n) for n in re.findall(rf"{re.escape(NAME)}:(\d+)", text)})
        return [f"{NAME}:{line} is {self.place(line)}" for line in lines if self.place(line)]


def _as_python(text: str) -> str:
    """A cell with what its magics run in their place: our own is the cell below it; lines stay where they are."""
    text = re.sub(r"\A(\s*)%%firstcause\b", r"\1# %%firstcause", text)
    text = _TIMED.sub(r"\1", text)
    text = _CHANGED.sub(lambda m: f'{m[1]}__import__("os").chdir({m[2].strip()!r})', text)
    return _RUN.sub(_run, text)


def _run(match: re.Match[str]) -> str:
    """``%run FILE WORDS``: the file as a program, whose names are the cells' afterwards."""
    try:
        words = shlex.split(match[2], comments=True)
    except ValueError:
        return match[0]
    argv = f'setattr(__import__("sys"), "argv", {words!r}); '
    return (
        f'{match[1]}{argv}globals().update(__import__("runpy").run_path({words[0]!r}, run_name="__main__"))'
    )
