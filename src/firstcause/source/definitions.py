"""Which assignments a use of a name can see: backwards from the use, all branches, loops included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from firstcause.source.bound_names import bound_names
from firstcause.source.module import COMPREHENSIONS, FUNCTIONS, FunctionNode, Module, children, kept, within
from firstcause.source.overlays import laid_over
from firstcause.source.steps import EACH, Path, constant_key, unpacked, value_at

DefinitionKind = Literal["value", "parameter", "import", "definition", "augmented", "opaque"]
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_LEAVING: frozenset[type[ast.AST]] = frozenset(LEAVES)
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(eq=False)
class Definition:
    """A place that binds a name: its node, the value that it takes a part of (``path``), and of what kind it is.

    ``member`` is set where not the name itself but the wanted key or attribute of it is assigned.
    """

    kind: DefinitionKind
    node: ast.AST
    value: ast.expr | None = None
    path: Path = ()
    member: bool = False


class Wanted(NamedTuple):
    """What is looked for: a name, or an attribute of a name; ``key`` also accepts assignments to that part of it."""

    name: str
    attribute: str | None = None
    key: str | int | None = None

    def is_base(self, node: ast.AST) -> bool:
        if self.attribute is not None:
            base = node.value if isinstance(node, ast.Attribute) and node.attr == self.attribute else None
            return isinstance(base, ast.Name) and base.id == self.name
        return isinstance(node, ast.Name) and node.id == self.name

    def match(self, target: ast.expr) -> tuple[Path, bool] | None:
        """The path into the assigned value, and whether only the wanted part is assigned."""
        if isinstance(target, ast.Name):
            is_base = self.attribute is None and target.id == self.name
            return ((), False) if is_base and isinstance(target.ctx, ast.Store) else None
        for node in within(target):
            if not isinstance(getattr(node, "ctx", None), ast.Store) or not isinstance(node, ast.expr):
                continue
            member = self.key is not None and self._is_member(node)
            if member or self.is_base(node):
                path = unpacked(target, node)
                if path is not None:
                    return path, member
        return None

    def _is_member(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == self.key and self.is_base(node.value)
        return (
            isinstance(node, ast.Subscript)
            and constant_key(node.slice) == self.key
            and self.is_base(node.value)
        )


Found = tuple[list[Definition], bool]


def may_bind(node: ast.AST, wanted: Wanted) -> bool:
    """Whether a name occurs at all among those that a statement binds, its blocks included."""
    names = node.__dict__.get("bound names")
    if names is None:
        names = node.__dict__["bound names"] = frozenset(bound_names(node))
    if not names:
        return False
    return (wanted.name in names and (wanted.attribute is None or wanted.attribute in names)) or "*" in names


def in_block(block: Sequence[ast.stmt], wanted: Wanted) -> Found:
    """The definitions that reach the end of a block, and whether no way through it keeps an older one."""
    found: list[Definition] = []
    for statement in reversed(block):
        if statement.__class__ in _LEAVING:
            return found, True
        if not may_bind(statement, wanted):
            continue
        new, definite = in_statement(statement, wanted)
        found += new
        if definite:
            return found, True
    return found, False


def in_statement(node: ast.stmt, wanted: Wanted) -> Found:
    """The definitions that a statement makes, and whether it always makes one (or is never left)."""
    if isinstance(node, LEAVES):
        return [], True
    if not may_bind(node, wanted):
        return [], False
    own = list(_simple(node, wanted))
    found, definite = _in_blocks(node, wanted)
    return (found, True) if definite else ([*found, *own], bool(own))


def _in_blocks(node: ast.stmt, wanted: Wanted) -> Found:
    if isinstance(node, ast.If):
        body, in_body = in_block(node.body, wanted)
        other, in_other = in_block(node.orelse, wanted)
        return [*body, *other], in_body and in_other
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return in_block(node.body, wanted)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        return [
            *in_block(node.orelse, wanted)[0],
            *in_block(node.body, wanted)[0],
            *_loop_target(node, wanted),
            *_laid_over(node, wanted),
        ], False
    if isinstance(node, ast.Try):
        return _in_try(node, wanted)
    if isinstance(node, ast.Match):
        return [d for case in node.cases for d in in_block(case.body, wanted)[0]], False
    return [], False


def _in_try(node: ast.Try, wanted: Wanted) -> Found:
    body, in_body = in_block([*node.body, *node.orelse], wanted)
    handlers = [in_block(handler.body, wanted) for handler in node.handlers]
    final, in_final = in_block(node.finalbody, wanted)
    found = [*final, *(d for found, _ in handlers for d in found), *body]
    return (final if in_final else found), in_final or (in_body and all(definite for _, definite in handlers))


def _simple(node: ast.stmt, wanted: Wanted) -> Iterator[Definition]:
    """What the statement itself binds, its blocks left aside."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bound(target, node.value, (), wanted, node)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _bound(node.target, node.value, (), wanted, node)
    elif isinstance(node, ast.AugAssign):
        if wanted.match(node.target):
            yield Definition("augmented", node, node.value)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if node.name == wanted.name and wanted.attribute is None:
            yield Definition("definition", node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from _imported(node, wanted)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None and wanted.match(item.optional_vars):
                yield Definition("opaque", item.context_expr, item.context_expr)
    yield from _walrus(node, wanted)


def own_bindings(node: ast.stmt, wanted: Wanted) -> list[Definition]:
    """What a statement itself binds, the target of a loop included, what stands in its blocks left aside."""
    return [*_simple(node, wanted), *_loop_target(node, wanted)]


def _imported(node: ast.Import | ast.ImportFrom, wanted: Wanted) -> Iterator[Definition]:
    if wanted.attribute is not None:
        return
    for alias in node.names:
        plain = alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name
        if wanted.name == (alias.asname or plain) or alias.name == "*":
            yield Definition("import", alias)


def _bound(
    target: ast.expr, value: ast.expr, prefix: Path, wanted: Wanted, node: ast.AST
) -> Iterator[Definition]:
    match = wanted.match(target)
    if match is not None:
        value, path = value_at(value, prefix + match[0])
        yield Definition("value", node, value, path, match[1])


def _loop_target(node: ast.AST, wanted: Wanted) -> Iterator[Definition]:
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _bound(node.target, node.iter, (EACH,), wanted, node)


def _laid_over(node: ast.AST, wanted: Wanted) -> Iterator[Definition]:
    if isinstance(node, (ast.For, ast.AsyncFor)) and wanted.attribute is None and isinstance(wanted.key, str):
        for value, step in laid_over(node, wanted.name, wanted.key):
            yield Definition("value", node, value, (step,), True)


def _walrus(node: ast.AST, wanted: Wanted) -> Iterator[Definition]:
    """Assignment expressions in a statement's own expressions, not in its blocks or nested functions."""
    for named in kept(node, "named expressions", lambda: _named_expressions(node)):
        yield from _bound(named.target, named.value, (), wanted, named)


def _named_expressions(node: ast.AST) -> list[ast.NamedExpr]:
    found = []
    waiting: list[ast.AST] = [
        child for child in children(node) if isinstance(child, (ast.expr, ast.withitem, ast.keyword))
    ]
    while waiting:
        child = waiting.pop()
        if isinstance(child, ast.NamedExpr):
            found.append(child)
        if not isinstance(child, ast.Lambda):
            waiting += [c for c in children(child) if not isinstance(c, ast.stmt)]
    return found


@dataclass(eq=False)
class Reaching:
    """The definitions that a use sees in its own function (None: the module), and whether they are all there are."""

    found: list[Definition]
    function: FunctionNode | None
    complete: bool


def reaching(module: Module, use: ast.AST, wanted: Wanted) -> Reaching:
    """The definitions in the innermost function, or in the module, that a use can see."""
    found: list[Definition] = []
    current = use
    while True:
        parent = module.parents.get(current)
        if parent is None:
            return Reaching(found, None, False)
        if isinstance(parent, FUNCTIONS) and within_body(parent, current):
            if isinstance(current, ast.stmt):
                new, definite = in_block(_before(parent, current)[0], wanted)
                found += new
                if definite:
                    return Reaching(found, parent, True)
            bound = _parameter(parent, wanted)
            return Reaching(found + bound, parent, bool(bound))
        new, definite = _around(module, parent, current, wanted, found)
        found += new
        if definite:
            return Reaching(found, module.function(use), True)
        current = parent


def _around(
    module: Module, parent: ast.AST, current: ast.AST, wanted: Wanted, found: list[Definition]
) -> Found:
    """What a node's parent, not a function, defines for it."""
    bound: list[Definition] = []
    if isinstance(parent, COMPREHENSIONS):
        for generator in parent.generators:
            if current is not generator:
                bound += _loop_target(generator, wanted)
    elif isinstance(parent, ast.comprehension) and current is not parent.iter:
        bound += _loop_target(parent, wanted)
    elif isinstance(parent, ast.Try) and isinstance(current, ast.ExceptHandler):
        # The exception may have come after any statement of the body.
        return in_block(parent.body, wanted)[0], False
    elif isinstance(parent, ast.match_case) and _captures(parent.pattern, wanted):
        bound.append(Definition("opaque", parent))
    elif isinstance(current, ast.stmt):
        new, definite = _in_parent(parent, current, wanted)
        return [d for d in new if d not in found], definite
    return bound, bool(bound)


def _captures(pattern: ast.pattern, wanted: Wanted) -> bool:
    return any(wanted.name in (getattr(n, "name", None), getattr(n, "rest", None)) for n in within(pattern))


def within_body(function: FunctionNode, node: ast.AST) -> bool:
    """Whether a child of a function's node is evaluated when the function runs."""
    # Defaults and decorators are evaluated outside the function.
    return node is function.body if isinstance(function, ast.Lambda) else node in function.body


def _before(parent: ast.AST, child: ast.stmt) -> tuple[list[ast.stmt], list[ast.stmt], str]:
    """The statements before a child in its block, those from it on, and the block's field."""
    for name in _BLOCKS:
        block = getattr(parent, name, None)
        if isinstance(block, list) and child in block:
            at = block.index(child)
            return block[:at], block[at:], name
    return [], [], ""


def _in_parent(parent: ast.AST, child: ast.stmt, wanted: Wanted) -> Found:
    before, after, field = _before(parent, child)
    found, definite = in_block(before, wanted)
    if definite:
        return found, True
    if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)) and field == "body":
        # What the last round of the loop assigned is seen by the next one.
        found += [d for d in in_block(after, wanted)[0] if d not in found]
        targets = list(_loop_target(parent, wanted))
        walrus = list(_walrus(parent, wanted))
        return [*found, *targets, *walrus], bool(targets or walrus)
    if isinstance(parent, ast.Try) and field in ("orelse", "finalbody"):
        new, definite = in_block([*parent.body, *(parent.orelse if field == "finalbody" else [])], wanted)
        return found + new, definite and field == "orelse"
    if isinstance(parent, ast.ExceptHandler):
        if parent.name == wanted.name:
            return [*found, Definition("opaque", parent)], True
        return found, False
    if isinstance(parent, (ast.If, ast.With, ast.AsyncWith)):
        new = list(_simple(parent, wanted))
        return found + new, bool(new)
    return found, False


def _parameter(function: FunctionNode, wanted: Wanted) -> list[Definition]:
    if wanted.attribute is not None:
        return []
    return [Definition("parameter", a) for a in parameters(function) if a.arg == wanted.name]


def parameters(function: FunctionNode) -> list[ast.arg]:
    """All parameters of a function, in the order in which they are written."""
    arguments = function.args
    stars = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *stars[:1], *arguments.kwonlyargs, *stars[1:]]
