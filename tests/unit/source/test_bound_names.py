"""The short ways through a file say what the long ones do: over this project's own code, and over what is rare in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import firstcause.source
from firstcause.source.bound_names import index_bound_names
from firstcause.source.definitions import Wanted
from firstcause.source.module import FUNCTIONS, Module
from firstcause.source.names import _lookup, lookup
from firstcause.source.project import Project
from firstcause.source.resolve import _resolved, external, resolve, root_of, roots_of

OWN = sorted(Path(firstcause.source.__file__).parent.glob("*.py"))[:12]
RARE = """
import os as system, torch
from torch import nn
linear = nn.Linear
size: int = 3
first = second = os
def outer(x, len=len):
    global later
    later = x
    def inner(y=x):
        nonlocal x
        x = [size for size in range(3)]
        return size, x, y, later, len(x), type(x)
    if (found := x):
        return inner, found
    try:
        pass
    except OSError as error:
        print(error)
    for id in range(2):
        linear(id)
    return lambda z, w=linear: (z, w, linear, system, type)
def other(value):
    id(value), print(id), linear(value)
    match value:
        case [head, *tail]:
            return head, tail
class Net(nn.Module):
    size = size
    def forward(self, size):
        self.size = size
        return size, self.size, Net, linear(size), outer
    def named(self):
        return size, later
print([size for size in first], size, later)
"""


def modules(tmp_path: Path) -> list[Module]:
    return [Module(str(p), p.name, p.read_bytes()) for p in OWN] + [
        Module(str(tmp_path / "rare.py"), "rare.py", RARE.encode())
    ]


def test_what_a_node_holds_is_what_a_walk_finds(tmp_path: Path) -> None:
    for module in modules(tmp_path):
        for node in ast.walk(module.tree):
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.With, ast.Call, ast.Constant)):
                for kind in (ast.Call, ast.Name):
                    walked = {n for n in ast.walk(node) if isinstance(n, kind)}
                    found = module.inside(node, kind)
                    assert set(found) == walked
                    assert len(found) == len(walked)


def test_a_name_means_by_the_short_way_what_it_means_by_the_long_one(tmp_path: Path) -> None:
    short = 0
    for module in modules(tmp_path):
        index_bound_names(module)
        for use in module.nodes(ast.Name):
            wanted = Wanted(use.id)
            long = [(d.kind, d.node) for d in _lookup(module, use, wanted)]
            assert [(d.kind, d.node) for d in lookup(module, use, wanted)] == long
            short += "definitions" not in vars(use)
    assert short > 500


def test_what_cannot_stand_for_a_name_resolves_to_nothing_by_the_long_way_too(tmp_path: Path) -> None:
    for module in modules(tmp_path):
        project = Project(str(tmp_path), [])
        for node in module.nodes(ast.Name, ast.Attribute):
            if resolve(project, module, node) is None:
                assert _resolved(project, module, node, 12) is None


@pytest.mark.parametrize("library", ["torch", "os"])
def test_whatever_stands_for_a_library_begins_with_one_of_its_roots(library: str, tmp_path: Path) -> None:
    (tmp_path / "rare.py").write_text(RARE)
    (tmp_path / "user.py").write_text(
        "from rare import linear, system\nlinear(3)\nsystem.getcwd()\nimport re\nre.sub()\n"
    )
    project = Project(str(tmp_path), ["rare.py", "user.py"])
    seen = 0
    for module in project.modules:
        roots = roots_of(project, module, frozenset({library}))
        for call in module.nodes(ast.Call):
            if external(resolve(project, module, call.func)).startswith(f"{library}."):
                seen += 1
                assert root_of(call.func) in roots
        assert "re" not in roots
    assert seen
