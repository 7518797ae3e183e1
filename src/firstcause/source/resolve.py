"""Which function, class, module or library name a dotted expression stands for, by imports and definitions alone."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from firstcause.source.bound_names import bound_by, index_bound_names
from firstcause.source.definitions import Definition, Wanted
from firstcause.source.module import Module
from firstcause.source.names import at_end, lookup
from firstcause.source.project import Project

Defining = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

# An alias of an alias of an import through packages: more hops are a cycle.
MAX_HOPS = 12
_BUILTIN = frozenset(dir(builtins))


@dataclass(frozen=True)
class Defined:
    """A function or class of the project, and the class through which it was reached, if one was."""

    module: Module
    node: Defining
    through: ast.ClassDef | None = None


# A project module, something defined in the project, a library's dotted name, or nothing known.
Resolved = Module | Defined | str | None


def resolve(project: Project, module: Module, node: ast.AST, hops: int = MAX_HOPS) -> Resolved:
    """What a name or dotted expression stands for; a library's name in full: ``torch.nn.Linear``, ``builtins.len``."""
    if hops <= 0 or not may_resolve(module, node):
        return None
    if hops < MAX_HOPS or node not in module.parents:
        return _resolved(project, module, node, hops)
    known = project.resolved
    if node not in known:
        known[node] = _resolved(project, module, node, hops)
    return known[node]  # type: ignore[no-any-return]


def may_resolve(module: Module, node: ast.AST) -> bool:
    """Whether an expression begins with a name that is an import's, a definition's, another name's, or Python's own."""
    name = root_of(node)
    if not name:
        return False
    index_bound_names(module)
    return name in module.nameable or name in _BUILTIN or name not in module.bound or "*" in module.bound


def roots_of(project: Project, module: Module, libraries: frozenset[str]) -> frozenset[str]:
    """The names of a file with which an expression can begin that stands for something of these libraries.

    An import of a file of the project counts: that file may hand on what it imports. "*" is among them where any can be.
    """
    index_bound_names(module)
    found = set(module.aliases)
    for plain in module.nodes(ast.Import):
        found |= {bound_by(a) for a in plain.names if _may_be_of(project, a.name, 0, libraries)}
    for node in module.nodes(ast.ImportFrom):
        if _may_be_of(project, node.module or "", node.level, libraries):
            found |= {bound_by(a) for a in node.names}
    return frozenset(found)


def _may_be_of(project: Project, dotted: str, level: int, libraries: frozenset[str]) -> bool:
    top = dotted.partition(".")[0]
    return level > 0 or top in libraries or project.has_top(top)


def root_of(node: ast.AST) -> str:
    """The name with which a dotted expression begins; empty for any other."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _resolved(project: Project, module: Module, node: ast.AST, hops: int) -> Resolved:
    if isinstance(node, ast.Name):
        found = lookup(module, node, Wanted(node.id))
        if not found:
            return f"builtins.{node.id}" if hasattr(builtins, node.id) else None
        return _definition(project, module, found, node.id, hops)
    if isinstance(node, ast.Attribute):
        base = resolve(project, module, node.value, hops - 1)
        return member(project, base, node.attr, hops - 1)
    return None


def member(project: Project, base: Resolved, name: str, hops: int = MAX_HOPS) -> Resolved:
    """What ``base.name`` stands for."""
    if hops <= 0:
        return None
    if isinstance(base, str):
        # A folder without __init__.py is a package too.
        return project.import_target(None, f"{base}.{name}") or f"{base}.{name}"
    if isinstance(base, Module):
        found = at_end(base, Wanted(name))
        if found:
            return _definition(project, base, found, name, hops)
        return project.import_target(base, name, 1) if base.path.endswith("__init__.py") else None
    if isinstance(base, Defined) and isinstance(base.node, ast.ClassDef):
        for part in base.node.body:
            if isinstance(part, Defining) and part.name == name:
                return Defined(base.module, part, base.node)
        for parent in base.node.bases:
            inherited = member(project, resolve(project, base.module, parent, hops - 1), name, hops - 1)
            if isinstance(inherited, Defined):
                return Defined(inherited.module, inherited.node, base.node)
    return None


def _definition(project: Project, module: Module, found: list[Definition], name: str, hops: int) -> Resolved:
    # Several definitions, as in try/except ImportError, mean one thing only if the first known one is it.
    for definition in found:
        node = definition.node
        if definition.kind == "definition" and isinstance(node, Defining):
            return Defined(module, node)
        if definition.kind == "import" and isinstance(node, ast.alias):
            target = imported(project, module, node, name, hops)
            if target is not None:
                return target
        is_alias = definition.kind == "value" and not definition.path and len(found) == 1
        if is_alias and isinstance(definition.value, (ast.Name, ast.Attribute)):
            target = resolve(project, module, definition.value, hops - 1)
            if target is not None:
                return target
    return None


def imported(project: Project, module: Module, alias: ast.alias, name: str, hops: int = MAX_HOPS) -> Resolved:
    """What a name bound by an import statement stands for."""
    statement = module.parents[alias]
    if isinstance(statement, ast.Import):
        dotted = alias.name if alias.asname else alias.name.split(".")[0]
        return project.import_target(module, dotted) or dotted
    assert isinstance(statement, ast.ImportFrom)
    source = project.import_target(module, statement.module or "", statement.level)
    wanted = name if alias.name == "*" else alias.name
    if source is not None:
        inside = member(project, source, wanted, hops - 1)
        if inside is not None:
            return inside
    if alias.name == "*":
        return None
    prefix = f"{statement.module}." if statement.module else ""
    submodule = project.import_target(module, prefix + alias.name, statement.level)
    if submodule is not None or statement.level or source is not None:
        return submodule
    return prefix + alias.name


def external(resolved: Resolved) -> str:
    """A library's dotted name, or an empty string."""
    return resolved if isinstance(resolved, str) else ""
