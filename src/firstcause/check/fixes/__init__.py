"""Fixes of findings, as exact edits: one at a time, each checked again before the next.

A fix stays only where the file still compiles, the finding is gone and no other error has come.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from firstcause.check.code import Code
from firstcause.check.engine import run_rules
from firstcause.check.fixes.edits import Edit, applied
from firstcause.check.fixes.loops import clear_gradients, keep_the_number, tell_the_epoch, unscale_first
from firstcause.check.fixes.modules import register_layers, register_tensor
from firstcause.check.fixes.names import present_amp, rename_argument, swap_arguments
from firstcause.check.libraries import versions
from firstcause.check.programs import programs
from firstcause.schema.finding import Finding
from firstcause.source.module import Module
from firstcause.source.project import Project

Fix = Callable[[Module, Sequence[ast.AST], Finding], list[Edit]]
# What is meant is beyond doubt, and nothing else changes.
SAFE: Mapping[str, Fix] = {
    "missing-zero-grad": clear_gradients,
    "clip-before-unscale": unscale_first,
    "sampler-set-epoch-missing": tell_the_epoch,
    "removed-argument-": rename_argument,
    "deprecated-argument-": rename_argument,
    "deprecated-amp": present_amp,
    "loss-history-keeps-graph": keep_the_number,
}
# What is saved, trained or computed afterwards is something else: a checkpoint of before may not load.
UNSAFE: Mapping[str, Fix] = {
    "unregistered-submodules": register_layers,
    "tensor-attribute-not-a-buffer": register_tensor,
    "loss-arguments-swapped": swap_arguments,
}
MAX_FIXES = 200


@dataclass
class Fixed:
    """Files by absolute path with what is to be written into them, how many findings that corrects, and the diff."""

    files: dict[str, bytes] = field(default_factory=dict)
    count: int = 0
    diff: str = ""


def fix_for(slug: str, unsafe: bool = False) -> Fix | None:
    """The fix of a rule's findings; that of an unsafe kind only where it is asked for."""
    for kinds in (SAFE, UNSAFE) if unsafe else (SAFE,):
        for name, fix in kinds.items():
            if slug == name or (name.endswith("-") and slug.startswith(name)):
                return fix
    return None


def fix_all(
    findings: Iterable[Finding],
    root: str,
    paths: Sequence[str],
    unsafe: bool = False,
    texts: Mapping[str, bytes] | None = None,
) -> Fixed:
    """Correct the findings that have a fix; nothing is written, notebooks are left as they are.

    ``texts`` are files as an editor holds them, by absolute path.
    """
    texts = texts or {}
    wanted = [f for f in findings if fix_for(f.slug, unsafe) is not None and f.site.file.endswith(".py")]
    names = list(dict.fromkeys(os.path.abspath(os.path.join(root, f.site.file)) for f in wanted))
    given = [os.path.abspath(p) for p in paths if os.path.isfile(p)]
    before = {name: texts[name] if name in texts else _read(name) for name in names}
    fixed = Fixed(dict(texts))
    for finding in sorted(wanted, key=lambda f: (f.site.file, -f.site.line))[:MAX_FIXES]:
        if _fix(finding, root, [*names, *given], fixed, unsafe):
            fixed.count += 1
    fixed.files = {p: raw for p, raw in fixed.files.items() if raw != texts.get(p)}
    fixed.diff = "".join(_diff(root, p, before[p], raw) for p, raw in fixed.files.items())
    return fixed


def _fix(finding: Finding, root: str, files: Sequence[str], fixed: Fixed, unsafe: bool) -> bool:
    path = os.path.abspath(os.path.join(root, finding.site.file))
    fix = fix_for(finding.slug, unsafe)
    program = _program(root, files, path, fixed.files)
    module = program.module(path) if program is not None else None
    if fix is None or program is None or module is None:
        return False
    found = run_rules(Code(program, versions(program))).findings
    now = [f for f in found if f.slug == finding.slug and f.site.file == finding.site.file]
    if not any(f.site == finding.site for f in now):
        return False
    try:
        text = applied(module.text, fix(module, _nodes(module, finding.site.line), finding))
        raw = (
            text.encode(module.encoding)
            if not module.bom
            else b"\xef\xbb\xbf" + text.lstrip("\ufeff").encode()
        )
        compile(text.lstrip("\ufeff"), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    if text == module.text or not _is_better(root, files, path, {**fixed.files, path: raw}, finding, found):
        return False
    fixed.files[path] = raw
    return True


def _is_better(
    root: str,
    files: Sequence[str],
    path: str,
    changed: Mapping[str, bytes],
    finding: Finding,
    found: Sequence[Finding],
) -> bool:
    """Whether there is one finding less of the rule and no more errors than before."""
    program = _program(root, files, path, changed)
    if program is None:
        return False
    after = run_rules(Code(program, versions(program))).findings
    fewer = _count(after, finding.slug) < _count(found, finding.slug)
    errors = [sum(f.category == "critical" for f in some) for some in (found, after)]
    return fewer and errors[1] <= errors[0]


def _count(findings: Iterable[Finding], slug: str) -> int:
    return sum(f.slug == slug for f in findings)


def _program(root: str, files: Sequence[str], path: str, changed: Mapping[str, bytes]) -> Project | None:
    """The program that holds a file, some files of it as they are to be."""
    whole = Project(root, list(dict.fromkeys(files)), sorted({os.path.dirname(f) for f in files}))
    for name, raw in changed.items():
        whole.replace(name, raw)
    return next((p for p in programs(whole) if path in p.files), None)


def _nodes(module: Module, line: int) -> list[ast.AST]:
    """The nodes that begin on a line, outermost first."""
    return [n for n in module.nodes_on(line) if getattr(n, "lineno", 0) == line] + [
        k for k in module.nodes(ast.keyword) if k.lineno == line
    ]


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _diff(root: str, path: str, before: bytes, after: bytes) -> str:
    name = os.path.relpath(path, root)
    old, new = (b.decode("utf-8", "replace").splitlines(keepends=True) for b in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
