"""Reading the case files: sections of a name, lines of answers, and a program."""

from __future__ import annotations

import os
from dataclasses import dataclass

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")


@dataclass(frozen=True)
class Snippet:
    """A small program and what is to be found in it; ``asked`` names what the question is about."""

    name: str
    program: str
    answers: tuple[str, ...]
    asked: str = ""

    def __str__(self) -> str:
        return self.name


def read(*files: str) -> list[Snippet]:
    found = []
    for name in files:
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            sections = file.read().removeprefix("== ").split("\n== ")
        found += [_read(section) for section in sections]
    return found


def _read(section: str) -> Snippet:
    head, program = section.split("\n--\n", 1)
    name, *lines = head.splitlines()
    answers = tuple(line.removeprefix("-> ") for line in lines if line.startswith("-> "))
    asked = "".join(line.removeprefix("? ") for line in lines if line.startswith("? "))
    return Snippet(name, program.rstrip("\n") + "\n", answers, asked)
