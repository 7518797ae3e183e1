"""Where a program switches gradient mode off: with statements, decorators, and calls that nothing puts back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.fix.operations import Facts
from firstcause.source import Module, Project
from firstcause.source.module import FUNCTIONS

CONTEXTS = frozenset({"no_grad", "inference_mode"})
SWITCHES = frozenset({"set_grad_enabled", "_set_grad_enabled"})
Place = tuple[Module, ast.AST]


def is_off(node: ast.AST) -> bool:
    """``torch.no_grad()``, ``torch.inference_mode()`` or ``torch.set_grad_enabled(...)`` but of a constant True."""
    if not isinstance(node, ast.Call):
        return _name(node) in CONTEXTS
    name = _name(node.func)
    if name in CONTEXTS:
        return not (node.args and _constant(node.args[0]) is False)
    return name in SWITCHES and bool(node.args) and _constant(node.args[0]) is not True


def decorator(module: Module, line: int) -> ast.expr | None:
    """The decorator that switches gradient mode off, of the function whose first line this is."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([d.lineno for d in node.decorator_list] + [node.lineno])
            if line in (first, node.lineno):
                found = next((d for d in node.decorator_list if is_off(d)), None)
                if found is not None:
                    return found
    return None


def around(module: Module, line: int) -> ast.With | ast.AsyncWith | None:
    """The innermost with statement around a line that switches gradient mode off."""
    found = [
        n
        for n in ast.walk(module.tree)
        if isinstance(n, (ast.With, ast.AsyncWith))
        and n.lineno <= line <= (n.end_lineno or line)
        and any(is_off(item.context_expr) for item in n.items)
    ]
    return found[-1] if found else None


def left_off(project: Project) -> Place | None:
    """The one place that can leave gradient mode off behind it; None where there is none, or more than one."""
    found = [(m, n) for m in project.modules for n in _leaving(m)]
    if len(found) > 1:
        # A call that another one puts back on every way is none.
        found = [(m, n) for m, n in found if not isinstance(n, ast.Call) or not _is_put_back(m, n)]
    return found[0] if len(found) == 1 else None


def _leaving(module: Module) -> Iterator[ast.AST]:
    items = {
        id(item.context_expr)
        for n in ast.walk(module.tree)
        if isinstance(n, (ast.With, ast.AsyncWith))
        for item in n.items
    }
    decorators = {
        id(d)
        for n in ast.walk(module.tree)
        if isinstance(n, (*FUNCTIONS, ast.ClassDef))
        for d in getattr(n, "decorator_list", ())
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and id(node) not in items | decorators:
            entered = isinstance(node.func, ast.Attribute) and node.func.attr == "__enter__"
            if (_name(node.func) in SWITCHES and is_off(node)) or (
                entered and isinstance(node.func, ast.Attribute) and is_off(node.func.value)
            ):
                yield node
        elif (
            isinstance(node, (ast.With, ast.AsyncWith))
            and any(is_off(i.context_expr) for i in node.items)
            # A generator is left in the middle of its block: who reads it runs under its mode.
            and any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node))
        ):
            yield node


def _is_put_back(module: Module, call: ast.Call) -> bool:
    """Whether its function turns the mode on after it, with no way out in between."""
    scope: ast.AST = module.function(call) or module.tree
    on = [n for n in switches_in(scope) if n.lineno > call.lineno and _constant(n.args[0]) is True]
    if not on:
        return False
    ways = [n for n in ast.walk(scope) if isinstance(n, (ast.Return, ast.Raise, ast.Break, ast.Continue))]
    return not any(call.lineno < n.lineno < on[-1].lineno for n in ways)


def switches_in(scope: ast.AST) -> list[ast.Call]:
    """The calls of ``set_grad_enabled`` in a function."""
    return [n for n in ast.walk(scope) if isinstance(n, ast.Call) and _name(n.func) in SWITCHES and n.args]


def of_place(project: Project, place: Facts) -> Place | None:
    """The switch that a place of the run points at: a decorator, a with statement, or a call on the line."""
    module = project.module(str(place["file"])) if place.get("file") else None
    if module is None:
        return None
    line = int(place["line"])
    found = decorator(module, line) if place.get("decorator") else None
    calls = [n for n in module.nodes_on(line) if isinstance(n, ast.expr) and is_off(n)]
    node: ast.AST | None = found or around(module, line) or (calls[0] if calls else None)
    return (module, node) if node is not None else None


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None
