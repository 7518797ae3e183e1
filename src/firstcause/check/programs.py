"""The programs that a set of files holds: what imports one another belongs together, a package is one.

A folder of scripts is many programs, and a question about the whole code ("is set_epoch called anywhere") is one about
a program, not about its neighbours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from firstcause.source.project import Project
from firstcause.source.written_imports import Import, WrittenImports

# A larger program is checked in pieces: whoever calls a function stands near it, as a rule.
MAX_TOGETHER = 150
PIECE = 24
# How far a value is followed: in a large program most values come from outside of it, whatever the effort.
EFFORT, EFFORT_LARGE, LARGE = 300, 60, 40


def programs(project: Project, imports: Callable[[str], list[Import]] | None = None) -> list[Project]:
    """The project's starting files in programs, each with its own memory and the same parsed files, largest first."""
    found: list[Project] = []
    for files in groups(project.root, project.files, imports):
        pieces = (
            [files[i : i + PIECE] for i in range(0, len(files), PIECE)]
            if len(files) > MAX_TOGETHER
            else [files]
        )
        for piece in pieces:
            part = project.part(piece, closed=len(pieces) > 1)
            part.most = MAX_TOGETHER
            part.effort = EFFORT if len(files) <= LARGE else EFFORT_LARGE
            found.append(part)
    return sorted(found, key=lambda p: -len(p.files))


def groups(
    root: str, files: Sequence[str], imports: Callable[[str], list[Import]] | None = None
) -> list[list[str]]:
    """Files (absolute paths) that belong together, in the order of their first ones."""
    imports_of = imports or WrittenImports().of
    unique = list(dict.fromkeys(files))
    parts = {part.removesuffix(".py") for file in unique for part in file.split(os.sep)}
    known, joined = set(unique), {f: f for f in unique}
    modules: dict[str, list[str]] = {}
    for file in unique:
        if file.endswith(".py"):
            modules.setdefault(file[:-3].removesuffix(f"{os.sep}__init__"), []).append(file)
    upwards: dict[str, list[str]] = {}

    def first(file: str) -> str:
        while joined[file] != file:
            joined[file] = joined[joined[file]]
            file = joined[file]
        return file

    packages: dict[str, str] = {}
    for file in unique:
        # Most imports are of libraries: no file or folder here has the name.
        near = [i for i in imports_of(file) if i[0] or i[1].partition(".")[0] in parts]
        here = os.path.dirname(file)
        if here not in upwards:
            upwards[here] = _upwards(here, root)
        others = [o for o in _imported(here, upwards[here], modules, near) if o != file]
        package = _package(here, known)
        if package:
            others.append(packages.setdefault(package, file))
        for other in others:
            joined[first(other)] = first(file)
    found: dict[str, list[str]] = {}
    for file in unique:
        found.setdefault(first(file), []).append(file)
    return list(found.values())


def _package(folder: str, known: set[str]) -> str:
    """The outermost package that a folder is in; empty for a folder of scripts."""
    found = ""
    while os.path.join(folder, "__init__.py") in known:
        found, folder = folder, os.path.dirname(folder)
    return found


def _imported(
    here: str, upwards: Sequence[str], modules: Mapping[str, Sequence[str]], imports: list[Import]
) -> Iterator[str]:
    """The files that a file in the folder ``here`` imports, looked for beside it, then further up to the root.

    ``modules`` gives the files by their paths without an ending. Paths are put together by hand: a large project asks for
    a hundred thousand of them.
    """
    for level, dotted, names in imports:
        within = os.sep + dotted.replace(".", os.sep) if dotted else ""
        for folder in [_up(here, level - 1)] if level else upwards:
            base = folder + within
            met = [p for b in (base, *(f"{base}{os.sep}{n}" for n in names)) for p in modules.get(b, ())]
            yield from met
            if met:
                break


def _up(folder: str, times: int) -> str:
    for _ in range(times):
        folder = os.path.dirname(folder)
    return folder


def _upwards(folder: str, root: str) -> list[str]:
    """A folder and those around it, up to the root."""
    found = [folder]
    while folder != root and os.path.dirname(folder) != folder and folder.startswith(root):
        folder = os.path.dirname(folder)
        found.append(folder)
    return found if root in found else [*found, root]
