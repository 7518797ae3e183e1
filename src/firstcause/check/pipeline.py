"""From paths and the user's words to a report: code read, rules run, instructions compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from firstcause.check.brief import Text, points_to_code, read
from firstcause.check.cache import Cache
from firstcause.check.code import Code
from firstcause.check.compliance import comply
from firstcause.check.dry.programs import dry_run
from firstcause.check.engine import run_programs
from firstcause.check.libraries import versions
from firstcause.check.programs import EFFORT, MAX_TOGETHER
from firstcause.check.report import Report
from firstcause.check.settings import is_excluded
from firstcause.check.spoken import spoken
from firstcause.check.suppress import commented, suppress
from firstcause.errors import InputError
from firstcause.installed import FOLDERS
from firstcause.schema.finding import Finding
from firstcause.source.module import display_name
from firstcause.source.project import Project

CODE = (".py", ".ipynb")
# What is read only where a program reads it.
NO_CODE = (".json", ".yaml", ".yml", ".toml", ".sh", ".md", ".txt")
# Not the user's code: environments, caches, version control.
SKIPPED = frozenset({"__pycache__", "node_modules", *FOLDERS, "build", "dist", ".git", ".venv", "venv"})


def check(
    paths: Sequence[str],
    root: str,
    briefs: Sequence[Text] = (),
    jobs: int | None = None,
    cache: Cache | None = None,
    exclude: Sequence[str] = (),
    dry: str | None = None,
    texts: Mapping[str, bytes] | None = None,
) -> Report:
    """Check the code beneath some paths against what the user asked for in ``briefs``, if anything.

    ``jobs`` processes at most; ``exclude`` holds patterns of paths that are left out. ``dry`` runs the programs on tensors
    without data as well: one that it starts as a command, or, empty, those that are found. ``texts`` are files as an editor
    holds them; with them, ``jobs`` is to be 1 and ``cache`` None, which know the disk alone.
    Raises ``InputError`` where a path does not exist or holds no code, ``SyntaxError`` where such a text is no Python.
    """
    files = [f for path in paths for f in _files(path) if not is_excluded(f, root, exclude)]
    if not files:
        raise InputError(
            "check-empty", f"{', '.join(paths)}: no Python file or notebook", "give a file or a folder"
        )
    folders = sorted({os.path.dirname(os.path.abspath(f)) for f in files})
    project = Project(_root_of(folders, root), files, folders, root)
    project.most = MAX_TOGETHER
    for path, raw in (texts or {}).items():
        project.replace(path, raw)
    told = read(briefs) if briefs else []
    pointed = any(points_to_code(text.content) for text in briefs or ())
    instructions = (*told, *spoken(project, told, pointed))
    code = Code(project, versions(project, briefs), instructions)
    outcome = run_programs(project, code.versions, instructions, jobs, cache)
    project.effort = EFFORT
    compared = comply(code, instructions)
    # What a comment leaves open is no assumption: only somebody who was told can have assumed.
    differing = [f for f in compared.findings if told or f.category != "assumption"]
    found = [*_unreadable(project), *_without_doubles(outcome.findings, differing)]
    ran: list[str] = []
    if dry is not None:
        found, ran = dry_run(found, root, [os.path.abspath(f) for f in files], dry, project.root)
    findings, silenced = suppress(found, commented(project))
    notes = [f"{len(silenced)} kept by a comment"] if silenced else []
    notes += ran
    notes += [
        *_refused(project),
        *_cut(outcome.cut, root),
        *(f"the rule {f.slug} failed and was left out: {f.why}" for f in outcome.failed),
    ]
    return Report(tuple(findings), compared.matches, instructions, len(files), tuple(notes))


def _root_of(folders: Sequence[str], root: str) -> str:
    """The folder that programs are started in: where the user is, or, for code elsewhere, the folder that holds it all."""
    own = os.path.abspath(root)
    whole = os.path.commonpath([own, *folders])
    return own if whole == own else os.path.commonpath(folders)


def _cut(files: Sequence[str], root: str) -> Iterator[str]:
    """Files that stand in a package too large to read with them."""
    if files:
        others = f" and {len(files) - 1} more" if len(files) > 1 else ""
        yield (
            f"{display_name(files[0], root)}{others}: the imports lead to more than {MAX_TOGETHER} files; only what the code "
            "uses of them was followed: check the folder for all of it"
        )


def _without_doubles(ruled: Sequence[Finding], compared: Sequence[Finding]) -> list[Finding]:
    """A rule says more than a comparison: what both find of one key is told once, by the rule."""
    told = {f.key for f in ruled if f.key}
    return sorted(
        [*ruled, *(f for f in compared if f.key not in told)],
        key=lambda f: (f.site.file, f.site.line, f.slug),
    )


def _files(path: str) -> Iterator[str]:
    if not os.path.exists(path):
        raise InputError("check-path", f"{path} does not exist", "give a file or a folder")
    if not os.path.isdir(path):
        if os.path.splitext(path)[1] in NO_CODE:
            message = f"{path} is no Python file or notebook"
            raise InputError("check-path", message, "give the program: what it reads is read with it")
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(CODE))


def _unreadable(project: Project) -> Iterator[Finding]:
    """A file that does not parse is reported at its place, and the others go on."""
    for path in sorted(project.unreadable):
        broken = project.unreadable[path]
        if not broken.refused:
            text = f"this cannot be read: {broken.message}"
            found = Finding("syntax-error", "critical", broken.site, text)
            yield replace(found, cell=broken.cell, cell_line=broken.cell_line)


def _refused(project: Project) -> Iterator[str]:
    """Files that are left out because reading them is not for us: their size, their nesting, tags of a program's own."""
    for path in sorted(project.unreadable):
        broken = project.unreadable[path]
        if broken.refused:
            yield f"{broken.site} was left out: {broken.message}"
