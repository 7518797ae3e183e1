"""Scores that are products of two values, summed up: a dot product of embeddings, a matrix product."""

from __future__ import annotations

import ast

from firstcause.check.code import Code
from firstcause.check.library_names import shortest
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

_PRODUCTS = frozenset({"torch.matmul", "torch.mm", "torch.bmm", "torch.dot", "torch.inner"})
_METHODS = frozenset({"matmul", "mm", "bmm", "dot", "inner"})


def factors_of_product(code: Code, module: Module, node: ast.AST) -> tuple[ast.expr, ...]:
    """The two factors of ``(a * b).sum(-1)``, ``torch.sum(a * b, dim=1)``, ``a @ b.T`` or ``torch.bmm(a, b)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return _plain(node.left), _plain(node.right)
    if not isinstance(node, ast.Call):
        return ()
    name = shortest(external(resolve(code.project, module, node.func)))
    if name in _PRODUCTS and len(node.args) >= 2:
        return _plain(node.args[0]), _plain(node.args[1])
    if name == "torch.sum" and node.args:
        return _of_elements(code, module, node.args[0])
    if name.startswith("torch.") or not isinstance(node.func, ast.Attribute):
        return ()
    if node.func.attr == "sum" and (node.args or node.keywords):
        return _of_elements(code, module, node.func.value)
    if node.func.attr in _METHODS and len(node.args) == 1:
        return _plain(node.func.value), _plain(node.args[0])
    return ()


def _of_elements(code: Code, module: Module, node: ast.expr) -> tuple[ast.expr, ...]:
    found = code.origins(module, node) if isinstance(node, ast.Name) else []
    made = found[0].node if len(found) == 1 and found[0].module is module else node
    product = isinstance(made, ast.BinOp) and isinstance(made.op, ast.Mult)
    return (made.left, made.right) if product and isinstance(made, ast.BinOp) else ()


def _plain(node: ast.expr) -> ast.expr:
    """A factor without what only turns it: ``b.T``, ``b.t()``, ``b.transpose(1, 2)``."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    turned = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("t", "transpose")
    )
    return (
        node.func.value
        if turned and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        else node
    )
