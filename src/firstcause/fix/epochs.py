"""The loop over epochs around a pass over a loader, and how the loader and the epoch are called there."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.fix.operations import Facts, module_of
from firstcause.fix.patches.uneven_batches_per_rank import iterated
from firstcause.source import Module, Project
from firstcause.source.feeds import last_name


@dataclass(frozen=True)
class Epoch:
    """The loop, the name of its number, the loader as it is named there, and the statement that makes the pass."""

    module: Module
    loop: ast.stmt
    number: str
    loader: str
    before: ast.stmt


def epoch_of(facts: Facts, project: Project) -> Epoch | None:
    """The epoch of the pass that goes through the loop at the facts' place; None where the code does not show it."""
    module = module_of(facts, project)
    if module is None:
        return None
    line = int(facts["line"])
    inner = next((n for n in module.nodes_on(line) if isinstance(n, ast.For) and n.lineno == line), None)
    through = iterated(inner.iter) if inner is not None else None
    if inner is None or not isinstance(through, (ast.Name, ast.Attribute)):
        return None
    loader = module.segment(through)
    around = _around(module, inner, inner)
    if around is not None:
        return Epoch(module, around[0], around[1], loader, around[2])
    function = module.function(inner)
    if not isinstance(function, ast.FunctionDef):
        return None
    own = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    number = next((a for a in own if "epoch" in a.lower()), None)
    if number is not None:
        return Epoch(module, inner, number, loader, inner)
    return _at_call(project, function, own, through, loader)


def _at_call(
    project: Project, function: ast.FunctionDef, own: list[str], through: ast.expr, loader: str
) -> Epoch | None:
    """The epoch around the only call of the function, its argument in the loader's place."""
    found = []
    for module in project.modules:
        for call in module.nodes(ast.Call):
            statement = module.statement(call)
            around = (
                _around(module, call, statement)
                if last_name(call.func) == function.name and statement is not None
                else None
            )
            if around is None:
                continue
            given = _given(module, call, own, through) if isinstance(through, ast.Name) else None
            if given is None and loader.startswith("self.") and isinstance(call.func, ast.Attribute):
                given = module.segment(call.func.value) + loader.removeprefix("self")
            if given is not None:
                found.append(Epoch(module, around[0], around[1], given, around[2]))
    return found[0] if len(found) == 1 else None


def _given(module: Module, call: ast.Call, own: list[str], through: ast.Name) -> str | None:
    if through.id not in own:
        # A name of the file: the same everywhere.
        return through.id
    for keyword in call.keywords:
        if keyword.arg == through.id:
            return module.segment(keyword.value)
    names = own[1:] if own[:1] == ["self"] else own
    at = names.index(through.id)
    is_plain = at < len(call.args) and isinstance(call.args[at], (ast.Name, ast.Attribute))
    return module.segment(call.args[at]) if is_plain else None


def _around(module: Module, node: ast.AST, statement: ast.stmt) -> tuple[ast.For, str, ast.stmt] | None:
    """The nearest loop around that counts, its number, and the statement of its body in which ``node`` stands."""
    child: ast.AST = statement
    function = module.function(node)
    for above in module.ancestors(statement):
        if above is function:
            return None
        if isinstance(above, ast.For) and isinstance(above.target, ast.Name) and child in above.body:
            counts = isinstance(above.iter, ast.Call) and "range" in module.segment(above.iter.func)
            if counts and isinstance(child, ast.stmt):
                return above, above.target.id, child
        child = above
    return None
