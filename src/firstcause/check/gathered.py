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
    axis, index = _gather(found[1]) if found is not None else (None, None)
    return (
        found is not None and axis in _LAST and index is not None and _is_made_column(code, found[0], index)
    )


def _gather(node: ast.AST) -> tuple[int | None, ast.expr | None]:
    """The axis and the index of a ``gather``."""
    if not isinstance(node, ast.Call) or _method(node) != "gather":
        return None, None
    given: dict[str | None, ast.expr] = dict(zip(("dim", "index"), node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords}
    starred = any(isinstance(a, ast.Starred) for a in node.args)
    return (None, None) if starred else (_number(given.get("dim")), given.get("index"))


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
    return is_squeezed_gather(code, module, node) or _reduced_axis(code, module, node, keeps=False) in _LAST


def is_squeezed_gather(code: Code, module: Module, node: ast.AST, axes: tuple[int, ...] = _LAST) -> bool:
    """Whether a value is what was gathered along the actions, its axis of one taken away: ``q.gather(1, a).squeeze(1)``."""
    found = _made(code, module, node)
    column = _flattened(found[1]) if found is not None else None
    inner = _made(code, found[0], column) if found is not None and column is not None else None
    return inner is not None and _gather(inner[1])[0] in axes


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
    """Whether a value is a gathered column that keeps its axis, or such a one added to and multiplied with others."""
    return any(is_gathered_column(code, *_undetached(*term)) for term in _terms(code, module, node))


def is_kept_reduction(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether the second axis is reduced to one and kept: ``q.max(1, keepdim=True)[0]``, or such a one added to others.

    Not where the axis is the last: of one value for each token of each sequence, it is the sequence's.
    """
    terms = (_undetached(*term) for term in _terms(code, module, node))
    return any(_reduced_axis(code, *term, keeps=True) == 1 for term in terms)


def _undetached(module: Module, node: ast.AST) -> tuple[Module, ast.AST]:
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach"
    return (module, node.func.value) if call else (module, node)  # type: ignore[attr-defined]


def _reduced_axis(code: Code, module: Module, node: ast.AST, keeps: bool) -> int | None:
    """The axis along which a call reduces, kept as one or taken away; ``max`` and ``min`` give the values and where they are."""
    pairs = isinstance(node, ast.Subscript) and _number(node.slice) in (0, 1)
    pairs = pairs or (isinstance(node, ast.Attribute) and node.attr in ("values", "indices"))
    if pairs and isinstance(node, (ast.Attribute, ast.Subscript)):
        inner = _made(code, module, node.value)
        node = inner[1] if inner is not None else node
    if not isinstance(node, ast.Call) or _method(node) not in _REDUCTIONS:
        return None
    named = {k.arg: k.value for k in node.keywords}
    kept = named.get("keepdim", node.args[1] if len(node.args) == 2 else None)
    told = kept is None or (isinstance(kept, ast.Constant) and isinstance(kept.value, bool))
    if not told or pairs is not (_method(node) in ("max", "min")):
        return None
    axis = _number(node.args[0] if node.args else named.get("dim"))
    return axis if (isinstance(kept, ast.Constant) and kept.value) is keeps else None


def _is_made_column(code: Code, module: Module, node: ast.AST) -> bool:
    found = _made(code, module, node)
    if found is None:
        return False
    if _reduced_axis(code, *found, keeps=True) in _LAST:
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
