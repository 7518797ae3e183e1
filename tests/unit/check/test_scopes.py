"""Names that nothing binds: none in the standard library, and each one whose import is taken away."""

from __future__ import annotations

import ast
import glob
import os
import sysconfig
from pathlib import Path

import pytest

from firstcause.check.scopes import early, unbound
from firstcause.source.module import Module

STANDARD = sorted(glob.glob(os.path.join(sysconfig.get_path("stdlib"), "*.py")))
SOME = STANDARD[:: max(1, len(STANDARD) // 60)]


def module_of(text: str) -> Module:
    return Module("/x/file.py", "file.py", text.encode())


@pytest.mark.parametrize("path", SOME, ids=os.path.basename)
def test_working_code_reads_no_unbound_name(path: str) -> None:
    module = Module(path, os.path.basename(path), Path(path).read_bytes())
    assert [(n.id, n.lineno) for n in unbound(module)] == []
    assert [(n.id, n.lineno, line) for n, line in early(module)] == []


@pytest.mark.parametrize("path", SOME, ids=os.path.basename)
def test_a_name_whose_import_is_taken_away_is_unbound(path: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports = [
        n for n in tree.body if isinstance(n, ast.Import) and len(n.names) == 1 and not n.names[0].asname
    ]
    stores = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    stores |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    bound = [a for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names]
    for node in imports:
        name = node.names[0].name.partition(".")[0]
        same = [a for a in bound if (a.asname or a.name.partition(".")[0]) == name]
        reads = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
        if name in stores or len(same) > 1 or not reads or name.startswith("__"):
            continue
        lines = text.splitlines(keepends=True)
        lines[node.lineno - 1] = "pass\n"
        found = {n.id for n in unbound(module_of("".join(lines)))}
        hidden = any(w in text for w in ("exec(", "import *", "globals()", "locals()", "_convert_("))
        assert name in found or hidden or _all_excused(reads, tree)
        return


def _all_excused(reads: list[ast.Name], tree: ast.Module) -> bool:
    """Whether each read stands under a try that catches the error, or in an annotation."""
    tries = [n for n in ast.walk(tree) if isinstance(n, ast.Try)]
    inside = {id(x) for t in tries for x in ast.walk(t)}
    return all(id(r) in inside for r in reads)


def test_a_class_body_is_not_seen_from_its_methods() -> None:
    module = module_of("class A:\n    size = 3\n    def f(self):\n        return size\n")
    assert [n.lineno for n in unbound(module)] == [4]


def test_a_loop_may_bind_what_it_reads_further_up() -> None:
    module = module_of(
        "for i in range(3):\n    if i:\n        print(last)\n    last = i\nprint(later)\nlater = 1\n"
    )
    assert [(n.id, n.lineno) for n, _ in early(module)] == [("later", 5)]


def test_an_author_who_knows_is_not_told() -> None:
    assert unbound(module_of("print(x)  # noqa: F821\n")) == []
