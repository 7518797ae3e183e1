"""What a run of statements takes from the names around it, and what it leaves in them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from firstcause.source.module import COMPREHENSIONS

# What leaves a run, or cannot be put off: such a run is no value that could be kept.
LEAVING = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.Raise, ast.ClassDef),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Import, ast.ImportFrom),
)
BUILTINS = frozenset(vars(builtins))


def inputs(statements: Sequence[ast.AST]) -> list[str]:
    """The names that are read before the statements bind them, in the order of the text; builtins are left out."""
    found: dict[str, None] = {}
    bound: set[str] = set()
    for statement in statements:
        _read(statement, bound, found)
    return [name for name in found if name not in BUILTINS]


def outputs(statements: Sequence[ast.AST]) -> list[str]:
    """The names that the statements bind, but for what a ``with`` opens."""
    opened = {
        n.id
        for s in statements
        for w in ast.walk(s)
        if isinstance(w, ast.withitem) and w.optional_vars is not None
        for n in ast.walk(w.optional_vars)
        if isinstance(n, ast.Name)
    }
    return [name for name in dict.fromkeys(_stores(statements)) if name not in opened]


def leaves(statements: Sequence[ast.AST]) -> bool:
    """Whether something in the statements goes elsewhere or binds what is not a name of this function."""
    own = set(outputs(statements))
    for statement in statements:
        for node in walked(statement):
            if isinstance(node, (*LEAVING, ast.Return, ast.NamedExpr)):
                return True
            if isinstance(node, (ast.Break, ast.Continue)) and not _has_loop(statement, node):
                return True
            is_store = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
            if is_store and root_name(node) not in own:
                return True
    return False


def root_name(node: ast.AST) -> str | None:
    """The name at the start of ``a.b[i].c``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def plain_name(node: ast.AST) -> str:
    """A name made of what an expression says: ``self_rows_i`` of ``self.rows[i]``."""
    return "".join(c if c.isalnum() else "_" for c in ast.unparse(node)).strip("_")


def walked(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what it holds, without the bodies of functions in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child
        else:
            yield from walked(child)


def _has_loop(statement: ast.AST, node: ast.AST) -> bool:
    loops = [n for n in walked(statement) if isinstance(n, (ast.For, ast.While))]
    return any(node in set(walked(loop)) for loop in loops)


def _stores(statements: Iterable[ast.AST]) -> Iterator[str]:
    for statement in statements:
        own = _inner(statement)
        for node in walked(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in own:
                yield node.id


def _inner(statement: ast.AST) -> set[ast.AST]:
    """The targets of comprehensions, which are names of their own."""
    return {
        name
        for node in walked(statement)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
    }


def _read(node: ast.AST, bound: set[str], found: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            if node.id not in bound:
                found.setdefault(node.id)
        else:
            bound.add(node.id)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign):
            root = root_name(node.target)
            if root is not None and root not in bound:
                found.setdefault(root)
        if node.value is not None:
            _read(node.value, bound, found)
        for target in targets:
            _read(target, bound, found)
    elif isinstance(node, COMPREHENSIONS):
        inner = bound | {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        for child in ast.iter_child_nodes(node):
            _read(child, inner, found)
    elif isinstance(node, ast.Lambda):
        _read(node.body, bound | {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}, found)
    elif isinstance(node, ast.ExceptHandler):
        # The name of what was raised is gone behind the block, and there is none before it.
        if node.type is not None:
            _read(node.type, bound, found)
        own = {node.name} - bound if node.name else set()
        bound |= own
        for statement in node.body:
            _read(statement, bound, found)
        bound -= own
    elif isinstance(node, (ast.For, ast.While, ast.If)):
        # The body may not run at all: what it binds is not known to be bound behind it.
        head = node.iter if isinstance(node, ast.For) else node.test
        _read(head, bound, found)
        for block in (node.body, node.orelse):
            within = set(bound)
            if isinstance(node, ast.For):
                _read(node.target, within, found)
            for statement in block:
                _read(statement, within, found)
    else:
        for child in ast.iter_child_nodes(node):
            _read(child, bound, found)
