"""Whether a value can carry a graph where it is used: gradient mode, and the calls that cut it."""

from __future__ import annotations

import ast

from firstcause.check.code import Code
from firstcause.source.module import Module

QUIET = ("torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autograd.no_grad")
CUTS = frozenset({"item", "detach", "tolist", "numpy", "cpu_item", "data"})
NUMBERS = frozenset({"float", "int", "len", "round", "str"})


def quiet(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a node runs with gradient mode off: a ``with`` around it, or its function's decorator."""
    if code.under(module, node, *QUIET) is not None:
        return True
    function = module.function(node)
    return any(_is_quiet(d) for d in getattr(function, "decorator_list", []))


def _is_quiet(decorator: ast.expr) -> bool:
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name.rpartition(".")[2] in ("no_grad", "inference_mode", "torch_no_grad")


def has_graph(code: Code, module: Module, node: ast.expr) -> bool:
    """False where a call on the way to a value cuts the graph: ``loss = f(x).item()``."""
    if _cut(node):
        return False
    origins = code.origins(module, node)
    return bool(origins) and not any(isinstance(o.node, ast.expr) and _cut(o.node) for o in origins)


def _cut(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in CUTS
        return isinstance(node.func, ast.Name) and node.func.id in NUMBERS
    return isinstance(node, ast.Attribute) and node.attr == "data"
