"""A loop over the elements of tensors, written over Python's numbers: one ``tolist`` a tensor before the loop."""

from __future__ import annotations

import ast
import copy
from typing import Any

from firstcause.source import reads

NUMBERS = ("float", "int", "bool")


def listed(loop: ast.For, every: bool = False) -> list[ast.stmt] | None:
    """The lists and the loop over them; None where it reads no single element of what it does not write.

    ``every``: not only what is made a number at once (``x[i].item()``, ``float(x[i])``), but each ``x[i]``.
    """
    names = listed_names(loop, every)
    if not names:
        return None
    before = [s for name, new in names.items() for s in ast.parse(f"{new} = {name}.tolist()").body]
    plain: ast.stmt = _Plain(names, every).visit(copy.deepcopy(loop))
    return [*before, plain]


def listed_names(loop: ast.For, every: bool = False) -> dict[str, str]:
    """The tensors of which single elements are read, by their text, with a name for the list of each."""
    stored = set(reads.outputs([loop]))
    seen: dict[str, str] = {}
    for node in ast.walk(loop):
        base = base_of(node, every)
        if base is not None and reads.root_name(base) not in stored:
            seen.setdefault(ast.unparse(base), f"{reads.plain_name(base)}_list")
    written = {ast.unparse(n.value) for n in ast.walk(loop) if isinstance(n, ast.Subscript) and _is_store(n)}
    return {text: name for text, name in seen.items() if text not in written}


def base_of(node: ast.AST, every: bool = False) -> ast.expr | None:
    """``x`` in ``x[i].item()``, ``float(x[i])``, ``int(x[i, j])``, or in ``x[i]`` with ``every``."""
    inner: ast.AST | None = _number(node)
    if inner is None and every and isinstance(node, ast.Subscript) and not _is_store(node):
        inner = node
    base = inner
    while isinstance(base, ast.Subscript):
        keys = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        if any(isinstance(k, (ast.Slice, ast.Constant)) and not _is_index(k) for k in keys):
            return None
        base = base.value
    is_path = isinstance(base, (ast.Name, ast.Attribute)) and base is not inner
    return base if is_path and isinstance(base, ast.expr) else None


def _number(node: ast.AST) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return node.func.value
    is_number = isinstance(node.func, ast.Name) and node.func.id in NUMBERS and len(node.args) == 1
    return node.args[0] if is_number else None


def _is_index(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, int)


def _is_store(node: ast.Subscript) -> bool:
    return not isinstance(node.ctx, ast.Load)


class _Plain(ast.NodeTransformer):
    """Reads of single elements become reads of the lists."""

    def __init__(self, names: dict[str, str], every: bool) -> None:
        self.names, self.every = names, every

    def visit(self, node: ast.AST) -> Any:
        base = base_of(node, self.every)
        if base is None or ast.unparse(base) not in self.names:
            return self.generic_visit(node)
        inner = _number(node) or node
        keys: list[ast.expr] = []
        while isinstance(inner, ast.Subscript):
            own = list(inner.slice.elts) if isinstance(inner.slice, ast.Tuple) else [inner.slice]
            keys, inner = own + keys, inner.value
        made: ast.expr = ast.Name(self.names[ast.unparse(base)], ast.Load())
        for key in keys:
            made = ast.Subscript(made, self.visit(key), ast.Load())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            node.args = [made]
            return node
        return made
