"""The ways by which a step's data came: from the variable that the step was given back to what computed it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from firstcause.fix.operations import Facts
from firstcause.source import Module, Origin, Project, data_origin
from firstcause.source.callees import library_name
from firstcause.source.data import data_origin_of_name, places
from firstcause.source.flow import find, new_walk
from firstcause.source.frames import Value
from firstcause.source.walk import Chain, Hop

# What makes a tensor of an array or of Python's numbers.
CONVERSIONS = frozenset(
    {
        "from_numpy",
        "tensor",
        "as_tensor",
        "Tensor",
        "FloatTensor",
        "DoubleTensor",
        "LongTensor",
        "asarray",
        "to_tensor",
    }
)


def ways(project: Project, at: Facts, name: str, frames: Iterable[Facts] = ()) -> list[Chain]:
    """The ways of a variable's numbers, nearest to the step first, each with its origin last.

    ``at`` is the file and line of the frame that holds the variable. Of several callers, the ones on the
    lines of ``frames`` (the traceback's) count alone.
    """
    if not name or not at.get("file"):
        return []
    found = _all_ways(project, at, name) or data_origin(project, str(at["file"]), int(at["line"]), name)
    if not found and name.isidentifier():
        found = data_origin_of_name(project, name)
    lines = {(str(f["file"]), int(f["line"])) for f in frames}
    chains = [places(origin) for origin in found]
    passed = [sum((h.module.path, h.site.line) in lines for h in chain) for chain in chains]
    return [chain for chain, count in zip(chains, passed, strict=True) if count == max(passed)]


def _all_ways(project: Project, at: Facts, name: str) -> list[Origin]:
    """Every way of a variable that the line reads; two may end in one expression, entered from two callers."""
    module = project.module(str(at["file"]))
    node = find(module, int(at["line"]), name) if module is not None else None
    if module is None or node is None or isinstance(getattr(node, "ctx", None), ast.Store):
        return []
    try:
        return new_walk(project, data=True).trace(Value(module, node), ()) or []
    except RecursionError:
        # Expressions nested as deep as generated code has them.
        return []


def conversion(project: Project, way: Chain) -> Hop | None:
    """The call on a way that makes a tensor of an array, the one nearest to the origin."""
    return next((hop for hop in reversed(way) if is_conversion(project, hop.module, hop.node)), None)


def is_conversion(project: Project, module: Module, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = library_name(new_walk(project), Value(module, node))
    return name.startswith(("torch.", "torchvision.")) and name.rpartition(".")[2] in CONVERSIONS


def call_on_way(project: Project, way: Chain, names: frozenset[str]) -> Hop | None:
    """The first call of a library's function or class of these names, from the step backwards."""
    for hop in way:
        if isinstance(hop.node, ast.Call):
            name = library_name(new_walk(project), Value(hop.module, hop.node))
            if name.rpartition(".")[2] in names:
                return hop
    return None


def common(chains: list[Chain]) -> list[Hop]:
    """The places that all ways pass, nearest to the step first."""
    if not chains:
        return []
    rest = [{id(h.node) for h in chain} for chain in chains[1:]]
    return [h for h in chains[0] if all(id(h.node) in seen for seen in rest)]
