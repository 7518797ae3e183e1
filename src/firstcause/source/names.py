"""What a name means where it is used: Python's scopes over the definitions that reach the use."""

from __future__ import annotations

import ast

from firstcause.source.bound_names import index_bound_names
from firstcause.source.definitions import (
    Definition,
    Wanted,
    in_block,
    parameters,
    reaching,
    within_body,
)
from firstcause.source.module import FUNCTIONS, FunctionNode, Module, kept, within


def lookup(module: Module, use: ast.AST, wanted: Wanted) -> list[Definition]:
    """The definitions that a name can have at a use, in its own scope or the nearest around it that binds it."""
    index_bound_names(module)
    if wanted.attribute is None and "*" not in module.bound:
        if wanted.name not in module.bound:
            return []
        if wanted.name not in module.bound_within and _is_inside(module, use):
            return at_end(module, wanted)
    known: dict[Wanted, list[Definition]] = kept(use, "definitions", dict)
    if wanted not in known:
        known[wanted] = _lookup(module, use, wanted)
    return list(known[wanted])


def _is_inside(module: Module, use: ast.AST) -> bool:
    """Whether a use stands in the body of a function: it sees the file's names as they are at its end."""
    child, parent = use, module.parents.get(use)
    while parent is not None:
        if isinstance(parent, FUNCTIONS) and within_body(parent, child):
            return True
        child, parent = parent, module.parents.get(parent)
    return False


def _lookup(module: Module, use: ast.AST, wanted: Wanted) -> list[Definition]:
    seen = reaching(module, use, wanted)
    found, function = list(seen.found), seen.function
    if function is None:
        return found or at_end(module, wanted)
    if function in module.global_statements.get(wanted.name, ()):
        return found if seen.complete else found + at_end(module, wanted)
    if found:
        return found
    if _is_local(function, wanted.name):
        # Bound later in the function only, as by a loop that has gone round, or not at all.
        return in_block(_body(function), wanted)[0]
    around = module.function(function)
    while around is not None:
        found, definite = in_block(_body(around), wanted)
        found += (
            []
            if definite
            else [Definition("parameter", a) for a in parameters(around) if a.arg == wanted.name]
        )
        if found:
            return found
        around = module.function(around)
    return at_end(module, wanted)


def at_end(module: Module, wanted: Wanted) -> list[Definition]:
    """The definitions that a module has after its import, those by ``global`` in its functions included."""
    index_bound_names(module)
    if wanted not in module.ends:
        module.ends[wanted] = _at_end(module, wanted)
    return list(module.ends[wanted])


def _at_end(module: Module, wanted: Wanted) -> list[Definition]:
    found, _ = in_block(module.tree.body, wanted)
    for function in module.global_statements.get(wanted.name, ()):
        found += in_block(_body(function), wanted)[0]
    return found


def _body(function: FunctionNode) -> list[ast.stmt]:
    return [] if isinstance(function, ast.Lambda) else function.body


def _is_local(function: FunctionNode, name: str) -> bool:
    if any(a.arg == name for a in parameters(function)):
        return True
    is_bound = bool(in_block(_body(function), Wanted(name))[0])
    return is_bound and not any(isinstance(n, ast.Nonlocal) and name in n.names for n in within(function))
