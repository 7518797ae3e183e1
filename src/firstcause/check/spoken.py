"""What the user asks for in the project itself: comments in code that say whose wish they are, comments of requirement files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from firstcause.check.brief import Text, asks_to_write, lists_wishes, names_asker, read
from firstcause.schema.instruction import Instruction
from firstcause.source.module import MAX_BYTES
from firstcause.source.project import Project
from firstcause.source.requirements import MAX_REQUIREMENT_BYTES

# In a larger project a comment speaks of one part, and a wish is one for the whole.
MAX_FILES = 40
_REQUIREMENTS = ("requirements.txt", "requirements.in", "requirements-train.txt")


def spoken(project: Project, told: Sequence[Instruction], pointed: bool = False) -> list[Instruction]:
    """The wishes that stand in the project; what the user tells outright (``told``) wins, key by key.

    ``pointed``: the brief says that they stand in a comment or docstring. A list under a TODO is one's own talk otherwise.
    """
    if len(project.files) > MAX_FILES:
        return []
    found = read([*_comments(project, pointed), *_requirements(project)])
    known = {i.key for i in told}
    return [i for i in found if i.key not in known]


def _comments(project: Project, pointed: bool) -> Iterator[Text]:
    """Blocks of comment lines of the scripts."""
    for path in project.files:
        if not path.endswith(".py") or not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        if pointed:
            yield from _docstring(path, lines, project)
        for first, block in _blocks(lines):
            told = names_asker(" ".join(block)) or names_asker("\n".join(block))
            name = os.path.relpath(path, project.shown_from)
            if told:
                yield Text("\n".join(block), name, "comment", first)
            elif pointed and lists_wishes(block, first):
                yield Text("\n".join(line.lstrip("#") for line in block), name, "brief", first)


def _docstring(path: str, lines: Sequence[str], project: Project) -> Iterator[Text]:
    """What the docstring of a script asks for, from the heading that says so: "TODO please write:"."""
    if not lines or not lines[0].lstrip().startswith(('"""', "'''")):
        return
    mark = lines[0].lstrip()[:3]
    end = next((n for n, line in enumerate(lines) if mark in line[3 if n == 0 else 0 :]), -1)
    first = next((n for n, line in enumerate(lines[: end + 1]) if asks_to_write(line)), -1)
    if 0 <= first < end:
        block = "\n".join(lines[first : end + 1]).replace(mark, "")
        yield Text(block, os.path.relpath(path, project.shown_from), "brief", first + 1)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that hold a comment alone, with the number of the first."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        plain = line.strip()
        if plain.startswith("#"):
            block.append(plain)
        elif block:
            yield number - len(block), block
            block = []


def _requirements(project: Project) -> Iterator[Text]:
    for name in _REQUIREMENTS:
        path = os.path.join(project.root, name)
        if os.path.isfile(path) and os.path.getsize(path) <= MAX_REQUIREMENT_BYTES:
            with open(path, encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file.read().splitlines(), 1):
                    if "#" in line and names_asker(line):
                        yield Text(line, name, "requirements", number)
