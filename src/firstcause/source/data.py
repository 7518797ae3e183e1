"""Where the numbers of a batch were prepared: back through loaders, datasets, collation and conversions."""

from __future__ import annotations

import ast

from firstcause.schema import Site
from firstcause.source.callsites import last_name
from firstcause.source.definitions import Wanted, own_bindings
from firstcause.source.flow import find, new_walk
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.names import lookup
from firstcause.source.project import Project
from firstcause.source.walk import Chain, Hop, Origin

MAKERS = ("tensor", "as_tensor", "array", "asarray", "LongTensor", "FloatTensor", "Tensor", "fromiter")
PYTHON_VALUES = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.SetComp)


def data_origin(project: Project, path: str, line: int, name: str) -> list[Origin]:
    """The last expressions that computed the numbers of a variable, most often a batch or a part of one.

    ``name`` is a name or an expression such as ``batch["ids"]`` on that line, read there or bound by
    it. The ``hops`` of each origin are the conversions, datasets and in-place writes between, nearest first.
    """
    module = project.module(path)
    node = find(module, line, name) if module is not None else None
    if module is None or node is None:
        return []
    walk = new_walk(project, data=True)
    if isinstance(getattr(node, "ctx", None), ast.Store):
        value = _bound_by(module, node)
        return walk.origins(value) if value is not None else []
    return walk.origins(Value(module, node))


def _bound_by(module: Module, node: ast.expr) -> Value | None:
    statement = module.statement(node)
    if statement is None or not isinstance(node, ast.Name):
        return None
    for definition in own_bindings(statement, Wanted(node.id)):
        if definition.value is not None:
            return Value(module, definition.value, None, definition.path)
    return None


def data_origin_of_name(project: Project, name: str) -> list[Origin]:
    """The same for a variable of a loop, wherever in the project loops bind the name; else for an assigned one."""
    bound: list[tuple[bool, Value]] = []
    for module in project.modules:
        for node in module.nodes(ast.Name):
            if node.id == name and isinstance(node.ctx, ast.Store):
                value = _bound_by(module, node)
                if value is not None:
                    bound.append((isinstance(module.statement(node), (ast.For, ast.AsyncFor)), value))
    in_loops = [value for is_loop, value in bound if is_loop]
    walk = new_walk(project, data=True)
    return [o for value in in_loops or [v for _, v in bound] for o in walk.origins(value)]


def data_origins_of(project: Project, value: Value) -> list[Origin]:
    """The same for an expression whose node is at hand."""
    return new_walk(project, data=True).origins(value)


def places(origin: Origin) -> Chain:
    """An origin's hops and then the origin itself: the whole way, nearest to the question first."""
    return (*origin.hops, Hop(origin.module, origin.node))


def preparing_site(found: list[Origin]) -> Site | None:
    """The line that last changed the numbers: an in-place write on the way, else the expression that computed them.

    Python values that become a tensor are prepared where they become one. Where the numbers come from
    several expressions, the last place that all of them pass.
    """
    ways = [_until_made(places(origin)) for origin in found]
    if not ways:
        return None
    common = [hops[0] for hops in zip(*ways, strict=False) if len({id(h.node) for h in hops}) == 1]
    way = ways[0] if len(ways) == 1 else common
    written = next((hop for hop in way if isinstance(hop.node, ast.stmt)), None)
    last = written or (way[-1] if way else ways[0][0])
    return last.site


def _until_made(way: Chain) -> Chain:
    """The way up to the call that makes numbers of Python values: what is before it is the raw data."""
    for index in reversed(range(len(way))):
        if _makes_numbers(way[index]):
            return way[: index + 1]
    return way


def _makes_numbers(hop: Hop) -> bool:
    node = hop.node
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name, first = last_name(node.func), node.args[0]
    if isinstance(node.func, ast.Name) and name in ("int", "float"):
        return True
    if name not in MAKERS:
        return False
    if isinstance(first, ast.Name):
        definitions = lookup(hop.module, first, Wanted(first.id))
        values = [d.value for d in definitions if d.value is not None]
        return any(isinstance(v, PYTHON_VALUES) for v in values)
    return isinstance(first, PYTHON_VALUES)
