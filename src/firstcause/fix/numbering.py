"""How ids are numbered: consecutive from an offset over a sequence, and how many rows that needs."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.fix.counts import Count
from firstcause.source import Module, Origin, Project
from firstcause.source.arguments import argument
from firstcause.source.data import data_origins_of
from firstcause.source.definitions import Wanted
from firstcause.source.frames import Value
from firstcause.source.names import lookup
from firstcause.source.values import number


@dataclass(frozen=True, eq=False)
class Numbering:
    """Ids ``offset, offset + 1, ...``, one for each element of a sequence, as the code assigns them."""

    sequence: Value
    offset: Value
    first: int


def numberings(project: Project, ids: Value) -> list[Numbering]:
    """The numberings from an offset above 0 that ids come from."""
    found: list[Numbering] = []
    for origin in data_origins_of(project, ids):
        inner = [origin]
        if origin.value is not None and isinstance(origin.node, ast.expr):
            # A list of ids as a whole: its elements are what is numbered.
            elements = [origin.value.at(e) for e in _elements(origin.node)]
            inner += [o for e in elements for o in data_origins_of(project, e)]
        found += [n for o in inner if (n := _of_origin(project, o)) is not None]
    return found


def _elements(node: ast.expr) -> list[ast.expr]:
    """The expressions for the elements of a list that is put together in place."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.elt]
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_elements(side) for side in (node.left, node.right)]
        return [e for part in parts for e in part]
    return []


def missing_offset(project: Project, count: Count, ids: Value) -> Numbering | None:
    """The numbering whose offset a count leaves out: the count is the length of just what is numbered."""
    node = count.place.node
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or node.func.id != "len"
        or len(node.args) != 1
    ):
        return None
    counted = ast.dump(node.args[0])
    found = [n for n in numberings(project, ids) if ast.dump(n.sequence.node) == counted]
    fitting = [n for n in found if _means_the_same(n, count.place.module)]
    return fitting[0] if len({ast.dump(n.offset.node) for n in fitting}) == 1 else None


def _of_origin(project: Project, origin: Origin) -> Numbering | None:
    node = origin.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for index, offset in ((node.left, node.right), (node.right, node.left)):
            counting = _enumeration(origin.module, index)
            if counting is not None and len(counting.args) == 1:
                return _numbering(
                    project, Value(origin.module, counting.args[0]), Value(origin.module, offset)
                )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "enumerate":
        start = argument(node, 1, "start")
        if start is not None and node.args:
            return _numbering(project, Value(origin.module, node.args[0]), Value(origin.module, start.node))
    return None


def _enumeration(module: Module, index: ast.expr) -> ast.Call | None:
    """The ``enumerate(...)`` call whose counter a name is."""
    if not isinstance(index, ast.Name):
        return None
    for definition in lookup(module, index, Wanted(index.id)):
        call, path = definition.value, definition.path
        is_enumerate = (
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "enumerate"
        )
        if is_enumerate and len(path) == 2 and path[1].key == 0:
            assert isinstance(call, ast.Call)
            return call
    return None


def _numbering(project: Project, sequence: Value, offset: Value) -> Numbering | None:
    first = number(project, offset)
    return Numbering(sequence, offset, first) if isinstance(first, int) and first > 0 else None


def _means_the_same(numbering: Numbering, module: Module) -> bool:
    """Whether the offset's text can stand in another function: it reads nothing but the module's own names."""
    if numbering.offset.module is not module:
        return False
    for node in ast.walk(numbering.offset.node):
        if isinstance(node, ast.Name):
            found = lookup(module, node, Wanted(node.id))
            if any(module.function(definition.node) is not None for definition in found):
                return False
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            return False
    return True
