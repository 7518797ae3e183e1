"""Shapes of what reinforcement learning compares: values gathered by action, and the best of each row."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.source.module import Module

# Reductions that take an axis away, where ``keepdim`` is not asked for.
_REDUCTIONS = frozenset({"max", "amax", "min", "amin", "sum", "mean", "argmax", "logsumexp"})
_LAST = (1, -1)
_DEPTH = 5


def is_gathered_column(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a value is ``q.gather(1, actions.unsqueeze(1))`` as it comes: one column."""
    found = _made(code, module, node)
    if found is None or not isinstance(found[1], ast.Call) or _method(found[1]) != "gather":
        return False
    call = found[1]
    given = {k.arg: k.value for k in call.keywords}
    axis, index = given.get("dim"), given.get("index")
    places = [a for a in call.args if not isinstance(a, ast.Starred)]
    if len(places) == 2:
        axis, index = places
    elif len(places) == 1 and index is not None:
        axis = places[0]
    return _number(axis) in _LAST and index is not None and _is_made_column(code, found[0], index)


def is_reduced_row(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a value is the best (or sum) of each row, or such a one added to and multiplied with others."""
    return any(_is_reduced(code, *term) for term in _terms(code, module, node))


def _terms(
    code: Code, module: Module, node: ast.AST, depth: int = _DEPTH
) -> Iterator[tuple[Module, ast.AST]]:
    """What a value adds up and multiplies, names followed; itself where it does not."""
    found = _made(code, module, node) if depth else None
    if found is None:
        return
    module, node = found
    if isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _terms(code, module, side, depth - 1)
    else:
        yield module, node


def _is_reduced(code: Code, module: Module, node: ast.AST) -> bool:
    if is_squeezed_gather(code, module, node):
        return True
    is_values = isinstance(node, ast.Attribute) and node.attr in ("values", "indices")
    is_first = isinstance(node, ast.Subscript) and _number(node.slice) in (0, 1)
    if (is_values or is_first) and isinstance(node, (ast.Attribute, ast.Subscript)):
        inner = _made(code, module, node.value)
        return inner is not None and _reduces(inner[1], pairs=True)
    return _reduces(node, pairs=False)


def is_squeezed_gather(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a value is what was gathered along the actions, its axis of one taken away: ``q.gather(1, a).squeeze(1)``."""
    found = _made(code, module, node)
    column = _flattened(found[1]) if found is not None else None
    if found is None or column is None:
        return False
    module = found[0]
    inner = _made(code, module, column)
    if inner is None or not isinstance(inner[1], ast.Call) or _method(inner[1]) != "gather":
        return False
    given = inner[1].args[0] if inner[1].args else None
    named = next((k.value for k in inner[1].keywords if k.arg == "dim"), given)
    return _number(named) in _LAST


def _flattened(node: ast.AST) -> ast.expr | None:
    """The column whose axis of one is taken away: ``x`` in ``x.squeeze(1)``, ``x.flatten()``, ``x.view(-1)``, ``x[:, 0]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        places = node.slice.elts
        rows = len(places) == 2 and isinstance(places[0], ast.Slice) and _number(places[1]) in (0, -1)
        return node.value if rows and ast.unparse(places[0]) == ":" else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "dim")]
    if node.func.attr == "squeeze":
        taken = not given or _number(given[0]) in _LAST
    elif node.func.attr in ("view", "reshape"):
        taken = len(given) == 1 and _number(given[0]) == -1
    else:
        taken = node.func.attr in ("flatten", "ravel") and not given
    return node.func.value if taken else None


def is_kept_column(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a value is a column that keeps its axis, or such a one added to and multiplied with others."""
    return any(_is_kept(code, *term) for term in _terms(code, module, node))


def _is_kept(code: Code, module: Module, node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and _method(node) == "detach" and isinstance(node.func, ast.Attribute):
        return is_kept_column(code, module, node.func.value)
    return is_gathered_column(code, module, node) or _keeps_axis(code, module, node)


def _keeps_axis(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether the last of two axes is reduced to one and kept: ``q.argmax(1, keepdim=True)``, ``q.max(1, keepdim=True)[0]``."""
    pairs = isinstance(node, ast.Subscript) and _number(node.slice) in (0, 1)
    pairs = pairs or (isinstance(node, ast.Attribute) and node.attr in ("values", "indices"))
    if pairs and isinstance(node, (ast.Attribute, ast.Subscript)):
        inner = _made(code, module, node.value)
        node = inner[1] if inner is not None else node
    if not isinstance(node, ast.Call) or _method(node) not in _REDUCTIONS:
        return False
    if pairs is not (_method(node) in ("max", "min")):
        return False
    named = {k.arg: k.value for k in node.keywords}
    keeps = named.get("keepdim", node.args[1] if len(node.args) == 2 else None)
    axis = node.args[0] if node.args else named.get("dim")
    return isinstance(keeps, ast.Constant) and keeps.value is True and _number(axis) in _LAST


def _reduces(node: ast.AST, pairs: bool) -> bool:
    """Whether a call takes the last of two axes away; ``max`` and ``min`` give the values and where they are."""
    if not isinstance(node, ast.Call) or _method(node) not in _REDUCTIONS:
        return False
    named = {k.arg: k.value for k in node.keywords}
    if "keepdim" in named or len(node.args) > 1:
        return False
    axis = node.args[0] if node.args else named.get("dim")
    return _number(axis) in _LAST and (_method(node) in ("max", "min")) is pairs


def _is_made_column(code: Code, module: Module, node: ast.AST) -> bool:
    found = _made(code, module, node)
    if found is None:
        return False
    if _keeps_axis(code, *found):
        return True
    node = found[1]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        given = [_number(a) for a in node.args]
        if node.func.attr == "unsqueeze":
            return given[:1] in ([1], [-1])
        if node.func.attr in ("view", "reshape"):
            return given == [-1, 1]
        return node.func.attr in ("long", "to", "int") and _is_made_column(code, found[0], node.func.value)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        last = node.slice.elts[-1]
        return isinstance(last, ast.Constant) and last.value is None
    return False


def _made(code: Code, module: Module, node: ast.AST) -> tuple[Module, ast.AST] | None:
    """The one expression that a name stands for; any other expression is its own."""
    if not isinstance(node, ast.Name):
        return module, node
    found = code.origins(module, node)
    return (found[0].module, found[0].node) if len(found) == 1 else None


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _number(node: ast.AST | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
