"""The names that a body reads before it writes them, among those bound in its own scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
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
    written: set[str] = set()
    for statement in body:
        exposed |= (_loads(statement) & bound) - written
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
                written |= {
                    n.id
                    for t in targets
                    for n in ast.walk(t)
                    if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
    return sorted(exposed)


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


def _loads(statement: ast.stmt) -> set[str]:
    """Names read anywhere in a statement, nested functions included: they may be called there."""
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {
        n.target.id
        for n in ast.walk(statement)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
