"""From paths and the user's words to a report: code read, rules run, instructions compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from firstcause.check.code import Code
from firstcause.check.engine import run_rules
from firstcause.check.report import Report
from firstcause.errors import InputError
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site
from firstcause.source.project import Project

CODE = (".py", ".ipynb")
# A value that takes longer to follow is taken as unknown: a check answers in a second.
EFFORT = 300
# Not the user's code: environments, caches, version control.
SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "build", "dist", ".git", ".venv", "venv"}
)


def check(paths: Sequence[str], root: str) -> Report:
    """Check the code beneath some paths; raises ``InputError`` where a path does not exist or holds no code."""
    files = [f for path in paths for f in _files(path)]
    if not files:
        raise InputError(
            "check-empty", f"{', '.join(paths)}: no Python file or notebook", "give a file or a folder"
        )
    project = Project(root, files, sorted({os.path.dirname(os.path.abspath(f)) for f in files}))
    project.effort = EFFORT
    code = Code(project)
    outcome = run_rules(code)
    findings = [*_unreadable(project), *outcome.findings]
    notes = [f"the rule {f.slug} failed and was left out: {f.why}" for f in outcome.failed]
    return Report(tuple(findings), files=len(files), notes=tuple(notes))


def _files(path: str) -> Iterator[str]:
    if not os.path.exists(path):
        raise InputError("check-path", f"{path} does not exist", "give a file or a folder")
    if os.path.isfile(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(CODE))


def _unreadable(project: Project) -> Iterator[Finding]:
    """A file that does not parse is reported at its place, and the others go on."""
    for path in sorted(project.unreadable):
        broken = project.unreadable[path]
        site = Site(broken.site.file, broken.site.line, "", broken.site.text)
        yield Finding("syntax-error", "critical", site, f"Python cannot read this: {broken.message}")
