"""Which names each statement of a file binds, so that a search for one passes by what cannot have it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.module import Module, within

_BINDING: tuple[type[ast.AST], ...] = (
    ast.Attribute, ast.Subscript, ast.alias, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
)  # fmt: skip
_STORE = ast.Store()
_NONE: frozenset[str] = frozenset()


def index_bound_names(module: Module) -> None:
    """Keep on every statement of a file the names that it and what it holds bind; from the names up, once."""
    if module.indexed:
        return
    module.indexed = True
    found: dict[ast.AST, set[str]] = {}
    parents = module.parents
    bound: list[tuple[ast.AST, str]] = [
        (n, n.id) for n in module.nodes(ast.Name) if n.ctx.__class__ is ast.Store
    ]
    bound += [
        (part, name)
        for part in module.nodes(*_BINDING)
        if getattr(part, "ctx", _STORE).__class__ is ast.Store
        for name in _bound_by(part)
    ]
    for part, name in bound:
        holder: ast.AST | None = part
        while holder is not None:
            if isinstance(holder, ast.stmt):
                names = found.get(holder)
                if names is None:
                    names = found[holder] = set()
                elif name in names:
                    # So do all around it.
                    break
                names.add(name)
            holder = parents.get(holder)
    naming = {a for named in module.nodes(ast.NamedExpr) for a in module.ancestors(named)}
    for kind, nodes in module.by_type.items():
        if not issubclass(kind, ast.stmt):
            continue
        for statement in nodes:
            store = statement.__dict__
            store.setdefault("bound names", found.get(statement, _NONE))
            if statement not in naming:
                store["named expressions"] = ()
    _index_scopes(module)


def _index_scopes(module: Module) -> None:
    """Keep which names a file binds anywhere, which of them within a function or a class, and which by more than a value."""
    module.bound_within = {a.arg for a in module.nodes(ast.arg)}
    definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = [
        *module.nodes(ast.FunctionDef),
        *module.nodes(ast.AsyncFunctionDef),
        *module.nodes(ast.ClassDef),
    ]
    for definition in definitions:
        module.bound_within.update(*(vars(s)["bound names"] for s in definition.body))
    module.bound = module.bound_within.union(*(vars(s)["bound names"] for s in module.tree.body))
    imported = {bound_by(alias) for alias in module.nodes(ast.alias)}
    module.aliases = _aliases(module)
    module.nameable = {definition.name for definition in definitions} | imported | module.aliases


def bound_by(alias: ast.alias) -> str:
    """The name that one part of an import binds; "*" where it is all of a module's."""
    return alias.asname or alias.name.partition(".")[0]


def _aliases(module: Module) -> set[str]:
    """The names that are given another name's value."""
    found: set[str] = set()
    for assign in module.nodes(ast.Assign):
        if isinstance(assign.value, (ast.Name, ast.Attribute)):
            found |= {t.id for t in assign.targets if isinstance(t, ast.Name)}
    single: list[ast.AnnAssign | ast.NamedExpr] = [*module.nodes(ast.AnnAssign), *module.nodes(ast.NamedExpr)]
    for node in single:
        if isinstance(node.value, (ast.Name, ast.Attribute)) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def bound_names(node: ast.AST) -> Iterator[str]:
    for part in within(node):
        yield from _bound_by(part)


def _bound_by(part: ast.AST) -> Iterator[str]:
    """The names that a node binds by itself."""
    if isinstance(part, ast.Name):
        if isinstance(part.ctx, ast.Store):
            yield part.id
    elif isinstance(part, (ast.Attribute, ast.Subscript)):
        if isinstance(part.ctx, ast.Store):
            yield from (n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in within(part))
    elif isinstance(part, ast.alias):
        yield part.asname or part.name.split(".")[0]
    elif isinstance(
        part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs)
    ):
        yield part.name or ""
    elif isinstance(part, (ast.MatchStar, ast.MatchMapping)):
        yield getattr(part, "name", None) or getattr(part, "rest", None) or ""
