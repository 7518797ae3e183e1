"""The shortcut of a residual addition: its projection, what stands in for it, and the test that chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.fix.operations import Facts, module_of
from firstcause.source import Construction, Module, Origin, Project
from firstcause.source.arguments import argument, bound
from firstcause.source.constructs import submodule_constructions
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.guards import Guard
from firstcause.source.resolve import Defined, external, resolve
from firstcause.source.steps import Step

# The position of each argument of a convolution that a shortcut has to share with the branch that it skips.
CONVOLUTION = {"in": 0, "out": 1, "kernel_size": 2, "stride": 3, "padding": 4}


@dataclass(frozen=True, eq=False)
class Shortcut:
    """A submodule on one side of an addition that is a projection under one test and passes its input on otherwise."""

    projection: Construction
    passing: Origin | None
    guard: Guard | None


def addition(facts: Facts, project: Project) -> tuple[Module, ast.AST, tuple[ast.expr, ast.expr]] | None:
    """The addition on the line of the facts and its two operands; None where there is none, or more than one."""
    module = module_of(facts, project)
    if module is None:
        return None
    found: list[tuple[ast.AST, tuple[ast.expr, ast.expr]]] = []
    for node in module.nodes_on(int(facts["line"])):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            found.append((node, (node.left, node.right)))
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            target = ast.parse(module.segment(node.target), mode="eval").body
            module.parents[target] = node
            found.append((node, (ast.copy_location(target, node.target), node.value)))
        elif (
            isinstance(node, ast.Call)
            and len(node.args) == 2
            and external(resolve(project, module, node.func)) == "torch.add"
        ):
            found.append((node, (node.args[0], node.args[1])))
    column = facts.get("column")
    if column is not None and len(found) > 1:
        found = [f for f in found if getattr(f[0], "col_offset", None) == column][:1] or found
    return (module, *found[0]) if len(found) == 1 else None


def shortcuts(facts: Facts, project: Project) -> list[Shortcut]:
    """The shortcuts that the addition of the facts can have."""
    place = addition(facts, project)
    if place is None:
        return []
    module, _, operands = place
    found: dict[int, Shortcut] = {}
    for operand in operands:
        for cls, name in _called_attributes(project, Value(module, operand)):
            for shortcut in _of_attribute(project, cls, name):
                found.setdefault(id(shortcut.projection.call), shortcut)
    return list(found.values())


def stand_ins(facts: Facts, project: Project) -> list[Construction]:
    """The placeholders (``nn.Identity()``) that the addition's operands pass, where nothing else is ever built."""
    place = addition(facts, project)
    found: dict[int, Construction] = {}
    for operand in place[2] if place is not None else ():
        assert place is not None
        for cls, name in _called_attributes(project, Value(place[0], operand)):
            built, _ = submodule_constructions(project, cls, name)
            if built and all(c.callee.rpartition(".")[2] == "Identity" for c in built):
                found.update({id(c.call): c for c in built})
    return list(found.values())


def _called_attributes(project: Project, value: Value) -> Iterator[tuple[str, str]]:
    """The submodules ``self.name(...)`` that a value is the output of: class and attribute, nested ones included."""
    for origin in new_walk(project).origins(value):
        for node in (origin.node, *(hop.node for hop in origin.hops)):
            module = (
                origin.module
                if node is origin.node
                else next(h.module for h in origin.hops if h.node is node)
            )
            func = node.func if isinstance(node, ast.Call) else None
            cls = module.method_class(node)
            if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and cls is not None:
                yield cls.name, func.attr


def _of_attribute(project: Project, cls: str, name: str) -> Iterator[Shortcut]:
    built, others = submodule_constructions(project, cls, name)
    projections = [c for c in built if list(convolutions(project, c))]
    passing = [o for o in others if isinstance(o.node, ast.Constant) and o.node.value is None]
    passing += [Origin("call", c.module, c.call) for c in built if c not in projections and _passes(c)]
    for projection in projections:
        guard = projection.guards[0] if projection.guards else None
        if guard is not None or passing:
            yield Shortcut(projection, passing[0] if passing else None, guard)


def _passes(construction: Construction) -> bool:
    last = construction.callee.rpartition(".")[2]
    return last == "Identity" or (last == "Sequential" and not construction.call.args)


def convolutions(project: Project, construction: Construction) -> Iterator[Construction]:
    """The convolutions and linear layers that a construction consists of, in order."""
    last = construction.callee.rpartition(".")[2]
    if last.startswith("Conv") or last in ("Linear", "LazyLinear"):
        yield construction
    if last != "Sequential":
        return
    for index in range(len(construction.call.args)):
        child = Value(
            construction.module, construction.call, construction.value.frame, (Step("child", str(index)),)
        )
        for origin in new_walk(project, spread=True).origins(child):
            if isinstance(origin.node, ast.Call) and origin.value is not None:
                yield from convolutions(project, Construction(project, origin.value, (), origin.hops))


def written(project: Project, guard: Guard, construction: Construction, name: str) -> ast.expr | None:
    """The expression in the guarded branch that gives a convolution an argument; None where it is not written there.

    Followed through the parameters of the project's own functions (``conv1x1(a, b, stride)``) to the branch.
    """
    within = [n for part in guard.guarded for n in ast.walk(part)]
    for call in [n for n in within if isinstance(n, ast.Call)]:
        target = resolve(project, guard.module, call.func)
        given = None
        if call is construction.call:
            spelled = {"in": "in_channels", "out": "out_channels"}.get(name, name)
            given = argument(call, CONVOLUTION[name], spelled)
        elif isinstance(target, Defined) and not isinstance(target.node, ast.ClassDef):
            passed = construction.argument(
                {"in": "in_channels", "out": "out_channels"}.get(name, name), CONVOLUTION[name]
            )
            if (
                passed is not None
                and isinstance(passed.node, ast.Name)
                and passed.module.function(passed.node) is target.node
            ):
                given = bound(target.node, passed.node.id, call, 0, 0, ())[0]
        if given is not None and given.sure:
            return given.node
    return None
