"""Where a program uses one module object for several places: ``[block] * n``, an appended variable, a default argument."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from firstcause.source.module import Module
from firstcause.source.project import Project

# Weights that are shared on purpose are said to be.
MEANT = re.compile(
    r"share|tied|tie_|tying|siames|universal|albert|recurren|recursi|iterat|same_", re.IGNORECASE
)


@dataclass(frozen=True)
class Repeated:
    """The node that repeats, the expression that builds the object (if it is seen), and how often, as text."""

    module: Module
    node: ast.expr
    built: ast.expr | None
    times: str | None


def find_repeated(project: Project, class_name: str) -> list[Repeated]:
    """The places at which an object of a class is repeated, without those that are said to be meant."""
    found = []
    for module in project.modules:
        for node in module.nodes(ast.BinOp):
            one = _multiplied(module, node)
            if one is not None and _builds(module, one.built, class_name) and not _meant(module, node):
                found.append(one)
        for call in module.nodes(ast.Call):
            one = _appended(module, call)
            if one is not None and _builds(module, one.built, class_name) and not _meant(module, call):
                found.append(one)
    return found


def _multiplied(module: Module, node: ast.BinOp) -> Repeated | None:
    """``[Block()] * n`` or ``n * [block]``."""
    if not isinstance(node.op, ast.Mult):
        return None
    for held, times in ((node.left, node.right), (node.right, node.left)):
        if isinstance(held, (ast.List, ast.Tuple)) and len(held.elts) == 1:
            return Repeated(module, node, _built(module, held.elts[0]), module.segment(times))
    return None


def _appended(module: Module, call: ast.Call) -> Repeated | None:
    """``blocks.append(block)`` in a loop, the object built before it; the same in a comprehension's element is no call."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "append" or len(call.args) != 1:
        return None
    name = call.args[0]
    loop = next((a for a in module.ancestors(call) if isinstance(a, (ast.For, ast.While))), None)
    built = _built(module, name)
    outside = (
        built is not None and loop is not None and not loop.lineno <= built.lineno <= (loop.end_lineno or 0)
    )
    return Repeated(module, name, built, None) if isinstance(name, ast.Name) and outside else None


def _built(module: Module, node: ast.expr) -> ast.expr | None:
    """The call behind an expression: itself, or what its name is bound to once in the function."""
    if isinstance(node, ast.Call):
        return node
    scope = module.function(node) or module.tree
    bound = [
        n.value
        for n in ast.walk(scope)
        if isinstance(node, ast.Name)
        and isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)
    ]
    return bound[0] if len(bound) == 1 and isinstance(bound[0], ast.Call) else None


def _builds(module: Module, built: ast.expr | None, class_name: str) -> bool:
    return isinstance(built, ast.Call) and module.segment(built.func).rpartition(".")[2] == class_name


def _meant(module: Module, node: ast.AST) -> bool:
    kind = module.method_class(node) or module.function(node)
    return bool(MEANT.search(module.segment(kind) if kind is not None else ""))
