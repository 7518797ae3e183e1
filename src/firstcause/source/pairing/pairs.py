"""Which names of a program belong together, row by row: those that it hands on, zips or subscripts beside each other."""

from __future__ import annotations

import ast
import builtins
from itertools import combinations

from firstcause.source.module import Module

MOST_TOGETHER = 5
# A value of these is a number or a text, and has no rows.
SINGLE = {"float", "int", "len", "item", "str"}
Scope = ast.AST
Pair = tuple[Scope, str, str]


def name_of(node: ast.AST) -> str | None:
    """``x`` or ``self.x`` as it is written; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def held_by(node: ast.AST) -> str | None:
    """The name whose rows a value has: itself, or what a conversion such as ``torch.tensor(x)`` or ``x.float()`` is given."""
    if isinstance(node, ast.Call):
        if len(node.args) == 1:
            return name_of(node.args[0])
        if not node.args and isinstance(node.func, ast.Attribute):
            return name_of(node.func.value)
        return None
    return name_of(node)


def given(module: Module, node: ast.AST, name: str) -> list[ast.expr]:
    """The values that a name is given in the function around a node, in the order of the text."""
    assigns = module.inside(module.function(node) or module.tree, ast.Assign)
    return [a.value for a in assigns if any(name_of(t) == name for t in a.targets)]


def scope_of(module: Module, node: ast.AST, name: str) -> Scope:
    """The function in which a name means one thing; of an attribute, the class."""
    if "." in name:
        return module.method_class(node) or module.tree
    return module.function(node) or module.tree


def pairs(module: Module) -> set[Pair]:
    """Each two names that stand beside each other, in both orders."""
    found: set[Pair] = set()
    for row in module.nodes(ast.Tuple):
        found |= _together(module, row, row.elts if isinstance(row.ctx, ast.Load) else [])
    for named in module.nodes(ast.Dict):
        found |= _together(module, named, named.values)
    for call in module.nodes(ast.Call):
        found |= _together(module, call, [*call.args, *(k.value for k in call.keywords)])
    for statement in module.nodes(ast.Return, ast.Assign, ast.Expr, ast.For):
        by_index: dict[str, list[ast.expr]] = {}
        inside = statement.iter if isinstance(statement, ast.For) else statement
        for one in module.inside(inside, ast.Subscript):
            if not isinstance(one.slice, ast.Constant):
                by_index.setdefault(module.segment(one.slice), []).append(one.value)
        for bases in by_index.values():
            found |= _together(module, statement, bases)
    return found


def _together(module: Module, node: ast.AST, parts: list[ast.expr]) -> set[Pair]:
    held = dict.fromkeys(n for p in parts if (n := held_by(p)) is not None)
    names = [n for n in held if not hasattr(builtins, n) and not _is_single(module, node, n)]
    if not 2 <= len(names) <= MOST_TOGETHER:
        return set()
    both = [(scope_of(module, node, a), a, b) for a, b in combinations(names, 2)]
    return {p for s, a, b in both for p in ((s, a, b), (s, b, a))}


def _is_single(module: Module, node: ast.AST, name: str) -> bool:
    """Whether the only value that a name is given in its function is a number or a text."""
    values = given(module, node, name)
    calls = [module.segment(v.func).rpartition(".")[2] for v in values if isinstance(v, ast.Call)]
    return len(values) == 1 and (isinstance(values[0], ast.Constant) or bool(set(calls) & SINGLE))
