"""Calls that the recorder follows inside marked modules: backward, zero_grad and next.

No class of torch is patched for it, which would break ``torch.compile``; the call itself is left as it is.
"""

from __future__ import annotations

import ast
from typing import TypeVar

N = TypeVar("N", bound=ast.AST)


class Instrument(ast.NodeTransformer):
    """Rewrites a module's tree; ``found`` tells whether a backward call was among it."""

    def __init__(self, compiled: set[str], tree: ast.Module) -> None:
        self.compiled = compiled
        self.found = False
        self._own_next = any(
            (isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == "next")
            or (isinstance(n, ast.Name) and n.id == "next" and not isinstance(n.ctx, ast.Load))
            for n in ast.walk(tree)
        )  # fmt: skip

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        return node if node.name in self.compiled else self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        # A class body may run in a namespace that answers for every name; its methods do not.
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        node.body = [self.visit(s) if isinstance(s, functions) else s for s in node.body]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if call.func.attr == "zero_grad":
            # Only a plain path of names may be looked at twice.
            holder = call.func.value
            named = all(isinstance(n, (ast.Name, ast.Attribute, ast.expr_context)) for n in ast.walk(holder))
            given = ast.unparse(holder) if named else ""
            return [_at(node, f"try: __fc_zeroed__({given})\nexcept NameError: pass"), node]
        if call.func.attr == "backward":
            self.found = True
            return self._backward(node, call)
        return node

    def _backward(self, node: ast.Expr, call: ast.Call) -> ast.AST | list[ast.stmt]:
        assert isinstance(call.func, ast.Attribute)
        subject = call.func.value
        scaled = (
            isinstance(subject, ast.Call)
            and isinstance(subject.func, ast.Attribute)
            and subject.func.attr == "scale"
        )
        loss = subject.args[0] if scaled and isinstance(subject, ast.Call) and subject.args else subject
        if isinstance(loss, ast.Name) and (scaled or not call.args):
            return [_at(node, f"try: __fc_loss__({loss.id})\nexcept NameError: pass"), node]
        if call.args and isinstance(call.args[0], ast.Name):
            # accelerator.backward(loss), fabric.backward(loss), engine.backward(loss)
            return [_at(node, f"try: __fc_loss__({call.args[0].id})\nexcept NameError: pass"), node]
        if not scaled:
            # A value that must be computed once only: passed through, with an identity where nobody observes.
            call.func.value = _call("__fc_loss__", "lambda t: t", subject)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id != "next" or self._own_next or not node.args:
            return node
        source = node.args[0]
        if (
            isinstance(source, ast.Call)
            and isinstance(source.func, ast.Attribute)
            and "parameters" in source.func.attr
        ):
            return node
        drawn = _call("__fc_drawn__", "lambda t: t", node)
        chosen = ast.parse(
            "((lambda: 0).__builtins__.get('__fc_given__', tuple)() or (0,))[0]", mode="eval"
        ).body
        assert isinstance(chosen, ast.Subscript)
        assert isinstance(chosen.value, ast.BoolOp)
        chosen.value.values[1] = ast.Tuple([drawn], ast.Load())
        return _placed(chosen, node)


def _call(function: str, otherwise: str, argument: ast.expr) -> ast.Call:
    call = ast.parse(f"(lambda: 0).__builtins__.get({function!r}, {otherwise})(0)", mode="eval").body
    assert isinstance(call, ast.Call)
    call.args = [argument]
    return _placed(call, argument)


def passed(function: str, value: ast.expr, key: str | int | None = None) -> ast.Call:
    """``value`` handed through a function of ours with a key before it; as it is where nobody observes."""
    if key is None:
        return _call(function, "lambda t: t", value)
    call = _call(function, "lambda k, t: t", value)
    call.args.insert(0, _placed(ast.Constant(key), value))
    return call


def _at(node: ast.stmt, text: str) -> ast.stmt:
    (statement,) = ast.parse(text).body
    return _placed(statement, node)


def _placed(made: N, like: ast.stmt | ast.expr) -> N:
    """Give every node that has no place in the user's file the place of the one that it stands for."""
    kept = {id(n) for n in ast.walk(like)}
    for node in ast.walk(made):
        if isinstance(node, (ast.stmt, ast.expr, ast.ExceptHandler)) and id(node) not in kept:
            node.lineno, node.col_offset = like.lineno, like.col_offset
            node.end_lineno, node.end_col_offset = like.end_lineno, like.end_col_offset
    return made
