"""The names that a body reads before it writes them, among those bound in its own scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Contexts of torch and its companions that training code stands in.
TRANSPARENT = frozenset(
    {
        "autocast",
        "no_grad",
        "enable_grad",
        "inference_mode",
        "set_grad_enabled",
        "no_sync",
        "accumulate",
        "stream",
        "record_function",
        "detect_anomaly",
        "set_detect_anomaly",
        "sdpa_kernel",
        "nullcontext",
    }
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def bound_names(scope: ast.AST) -> set[str]:
    """Names that are variables of ``scope`` (a module or function): parameters and what its own code assigns.

    Names bound only by an import or a definition are left out: their values are not the loop's to change.
    """
    names: set[str] = set()
    if isinstance(scope, FUNCTIONS):
        arguments = scope.args
        every = (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        )
        names |= {a.arg for a in every if a is not None}
    for node in own_nodes(scope):
        names |= set(_binds(node))
    return names


def live_in(body: list[ast.stmt], bound: set[str]) -> list[str]:
    """Names of ``bound`` that ``body`` may read before it has written them, sorted."""
    exposed: set[str] = set()
    _follow(body, bound, exposed, set())
    return sorted(exposed)


def _follow(body: list[ast.stmt], bound: set[str], exposed: set[str], written: set[str]) -> None:
    """Go through statements in order, adding to what is read first and to what is surely written."""
    for statement in body:
        if isinstance(statement, ast.With) and all(_lets_through(i.context_expr) for i in statement.items):
            for item in statement.items:
                exposed |= (_loads(item.context_expr) & bound) - written
                written |= set(_stored(item.optional_vars)) if item.optional_vars is not None else set()
            _follow(statement.body, bound, exposed, written)
            continue
        exposed |= (_loads(statement) & bound) - written
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
                written |= {name for t in targets for name in _stored(t)}


def _lets_through(context: ast.expr) -> bool:
    """Whether a context is known to swallow no exception: what is written in it is written after it."""
    function = context.func if isinstance(context, ast.Call) else context
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in TRANSPARENT


def _stored(target: ast.expr) -> Iterator[str]:
    return (n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope that are not inside a scope of their own, and names bound through a comprehension."""
    queue: list[ast.AST] = (
        list(scope.body)
        if isinstance(scope, (ast.Module, *DEFINITIONS))
        else list(ast.iter_child_nodes(scope))
    )
    while queue:
        node = queue.pop()
        if isinstance(node, SCOPES):
            if not isinstance(node, DEFINITIONS):
                # A walrus inside a comprehension binds in the scope around it.
                yield from (n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        yield node
        queue.extend(ast.iter_child_nodes(node))


def _binds(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    elif (isinstance(node, ast.ExceptHandler) and node.name) or (
        isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name
    ):
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _loads(statement: ast.AST) -> set[str]:
    """Names read anywhere in a statement, nested functions included: they may be called there."""
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {
        n.target.id
        for n in ast.walk(statement)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
