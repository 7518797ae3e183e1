"""Small failing programs, one text file a cause: the facts of a replay, what the patch has to change, the program.

In a program, FAIL marks the line that fails and FIX the line to fix. ``change "old" => "new"`` is what the
patch has to change, all else staying as it is; ``no patch`` says that there may be none.
"""

from __future__ import annotations

import glob
import json
import os
from dataclasses import dataclass, field
from typing import Any

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")


@dataclass
class PatchCase:
    cause: str
    name: str
    program: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    changes: list[tuple[str, str]] | None = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.cause}-{self.name}"

    def lines_marked(self, mark: str) -> list[int]:
        return [number for number, line in enumerate(self.program.splitlines(), 1) if mark in line]

    @property
    def is_runnable(self) -> bool:
        return "\nrun = " in self.program or "\ndef run(" in self.program


def read_cases() -> list[PatchCase]:
    found = []
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt"))):
        with open(path, encoding="utf-8") as file:
            sections = file.read().removeprefix("== ").split("\n== ")
        cause = os.path.basename(path).removesuffix(".txt")
        found += [_read(cause, section) for section in sections]
    return found


def _read(cause: str, section: str) -> PatchCase:
    head, program = section.split("\n--\n", 1)
    name, *settings = head.splitlines()
    case = PatchCase(cause, name, program.rstrip("\n") + "\n")
    for setting in settings:
        kind, _, rest = setting.partition(" ")
        if kind == "fact":
            key, _, value = rest.partition(" = ")
            case.facts[key] = json.loads(value)
        elif kind == "change":
            old, _, new = rest.partition(" => ")
            assert case.changes is not None
            case.changes.append((json.loads(old), json.loads(new)))
        else:
            assert setting == "no patch", setting
            case.changes = None
    case.facts = {"file": "train.py", "line": case.lines_marked("FAIL")[0], **case.facts}
    return case
