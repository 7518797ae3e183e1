"""How a walk enters a function: through its return and yield expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.frames import Frame, Value
from firstcause.source.module import FUNCTIONS, FunctionNode, Module, children, kept
from firstcause.source.steps import Path
from firstcause.source.walk import Chain, Hop, Result, Walk

_GIVING = (ast.Yield, ast.YieldFrom, ast.Return)


def enter(walk: Walk, module: Module, frame: Frame, path: Path, chain: Chain) -> Result:
    """The origins of what a function gives back in a frame, ``path`` taken of it; None where nothing is known."""
    if _is_recursive(frame):
        return []
    given = list(_given_back(frame.function, path))
    return walk.any_of(
        (Value(module, node, frame, rest), (*chain, Hop(module, node))) for node, rest in given
    )


def _given_back(function: FunctionNode, path: Path) -> Iterator[tuple[ast.expr, Path]]:
    if isinstance(function, ast.Lambda):
        yield function.body, path
        return
    nodes = kept(function, "ways out", lambda: [n for n in body_nodes(function) if isinstance(n, _GIVING)])
    yields = [n for n in nodes if isinstance(n, (ast.Yield, ast.YieldFrom))]
    for given in yields if path and path[0].kind == "iter" else ():
        if given.value is not None:
            yield given.value, path if isinstance(given, ast.YieldFrom) else path[1:]
    for node in nodes if not yields else ():
        # A bare `return` beside others is the early way out, not the value that is asked for.
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value, path


def _is_recursive(frame: Frame) -> bool:
    outer = frame.caller
    while outer is not None:
        same = outer.call is not None and frame.call is not None and outer.call.node is frame.call.node
        if same and outer.function is frame.function:
            return True
        outer = outer.caller
    return False


def body_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function's body in the order of the text, nested functions and classes left aside."""
    return iter(kept(function, "body nodes", lambda: list(_body_nodes(function))))


def _body_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = (
        [function.body] if isinstance(function, ast.Lambda) else list(reversed(function.body))
    )
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting += reversed(children(node))
