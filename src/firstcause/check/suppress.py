"""``# firstcause: ignore[rule] reason``: findings that the author of the code has looked at and keeps.

On a line it means that line, on a line of its own the statement that follows with all that stands in it, and before
the first statement of a file the whole file. One that silences nothing is reported.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from firstcause.check.reasons import comments_of
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site
from firstcause.source.module import MAX_BYTES, Module
from firstcause.source.project import Project

_IGNORE = re.compile(r"firstcause:\s*ignore(?:\[([^\]]*)\])?\s*(.*)")
UNUSED = "unused-ignore"


@dataclass(frozen=True)
class Ignore:
    """A comment: the rules that it silences (all where none is named), and the lines for which it does."""

    module: Module
    line: int
    slugs: tuple[str, ...]
    first: int
    last: int
    reason: str

    def holds(self, finding: Finding) -> bool:
        """Whether a finding is one that is silenced."""
        if finding.site.file != self.module.name or (self.slugs and finding.slug not in self.slugs):
            return False
        return self.module.raw_line(self.first) <= finding.site.line <= self.module.raw_line(self.last)


def suppress(findings: Iterable[Finding], modules: Sequence[Module]) -> tuple[list[Finding], list[Finding]]:
    """The findings that stay, an unused comment among them as a suggestion, and those that are silenced."""
    ignores = [i for m in modules if "firstcause:" in m.text for i in ignores_of(m)]
    kept: list[Finding] = []
    silenced: list[Finding] = []
    used: set[int] = set()
    for one in findings:
        holding = [n for n, i in enumerate(ignores) if i.holds(one)]
        used.update(holding)
        (silenced if holding else kept).append(one)
    kept += [_unused(i) for n, i in enumerate(ignores) if n not in used]
    return sorted(kept, key=lambda f: (f.site.file, f.site.line, f.slug)), silenced


def ignores_of(module: Module) -> Iterator[Ignore]:
    """The comments of a file that silence findings."""
    for line, comment in comments_of(module).items():
        match = _IGNORE.match(comment)
        if match is None:
            continue
        slugs = tuple(s.strip() for s in (match[1] or "").split(",") if s.strip())
        yield Ignore(module, line, slugs, *_span(module, line), match[2].strip())


def _span(module: Module, line: int) -> tuple[int, int]:
    if not module.line(line).startswith("#"):
        holding = [s for s in _statements(module.tree) if s.lineno <= line <= (s.end_lineno or s.lineno)]
        # A comment at the end of a statement of several lines means all of it, one within a block its own line.
        inner = max(holding, key=lambda s: (s.lineno, -(s.end_lineno or 0)), default=None)
        simple = inner is not None and not hasattr(inner, "body")
        return (inner.lineno, inner.end_lineno or line) if simple and inner is not None else (line, line)
    if not module.tree.body or line < module.tree.body[0].lineno:
        return 1, len(module.lines)
    following = [s for s in _statements(module.tree) if _first_line(s) > line]
    after = min(following, key=lambda s: (_first_line(s), -(s.end_lineno or 0)), default=None)
    return (line, line) if after is None else (_first_line(after), after.end_lineno or after.lineno)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _statements(tree: ast.AST) -> list[ast.stmt]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]


def _unused(ignore: Ignore) -> Finding:
    named = f"[{', '.join(ignore.slugs)}]" if ignore.slugs else ""
    line = ignore.module.raw_line(ignore.line)
    cell, cell_line = ignore.module.cell(ignore.line)
    site = Site(ignore.module.name, line, "", ignore.module.line(ignore.line))
    text = f"ignore{named} silences nothing here: take it out"
    return Finding(UNUSED, "suggestion", site, text, cell=cell, cell_line=cell_line)


def commented(project: Project) -> list[Module]:
    """The files among those named in which such a comment may stand."""
    paths = [p for p in project.files if p.endswith(".ipynb") or p in project.replaced or _mentions(p)]
    return [m for m in map(project.module, paths) if m is not None]


def _mentions(path: str) -> bool:
    try:
        # A pipe would be waited for.
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return b"firstcause:" in file.read(MAX_BYTES)
    except OSError:
        return False
