"""The elements of lists and tuples: written out, or put in by append, extend and insert."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.definitions import Wanted
from firstcause.source.frames import Value
from firstcause.source.module import FUNCTIONS, Module, kept, within
from firstcause.source.names import lookup
from firstcause.source.steps import EACH, Path
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

GROWING = ("append", "extend", "insert", "add", "appendleft")
BRANCHING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With)


@dataclass(frozen=True, eq=False)
class Element:
    """One element, or any number of them where ``single`` is False."""

    value: Value
    single: bool = True


def literal_elements(value: Value) -> list[Element]:
    """The elements of a list, tuple or set display."""
    assert isinstance(value.node, (ast.List, ast.Tuple, ast.Set))
    found = []
    for node in value.node.elts:
        if isinstance(node, ast.Starred):
            found.append(Element(value.at(node.value, (EACH,)), single=False))
        else:
            found.append(Element(value.at(node)))
    return found


def starting_elements(value: Value) -> list[Element] | None:
    """The elements with which a list starts (a display, or a call that makes an empty one); None for other values."""
    node = value.node
    if isinstance(node, (ast.List, ast.Tuple)):
        return literal_elements(value)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (
            name in ("list", "deque", "ModuleList", "Sequential", "ParameterList", "set")
            and not node.keywords
        ):
            if name == "Sequential":
                return [Element(value.at(a)) for a in node.args if not isinstance(a, ast.Starred)]
            inner = node.args[0] if node.args else None
            return [] if inner is None else starting_elements(value.at(inner))
    return None


def grown(value: Value, holder: ast.expr, scope: ast.AST) -> list[Element]:
    """What a scope puts into the list that ``holder`` (a name or ``self.name``) stands for, in the order of the text."""
    found = []
    for node in kept(scope, "growing calls", lambda: _growing_calls(scope)).get(
        ast.dump(_as_load(holder)), ()
    ):
        argument = node.args[-1]
        many = isinstance(node.func, ast.Attribute) and node.func.attr == "extend"
        element = Value(value.module, argument, value.frame, (EACH,) if many else ())
        found.append(Element(element, single=not many and _is_straight(value.module, node)))
    return sorted(found, key=lambda e: (e.value.node.lineno, e.value.node.col_offset))


def _growing_calls(scope: ast.AST) -> dict[str, list[ast.Call]]:
    """The calls that put something into a list, by the dump of what they are called on."""
    found: dict[str, list[ast.Call]] = {}
    for node in within(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            holder = node.func.value
            if node.func.attr in GROWING and isinstance(holder, (ast.Name, ast.Attribute)):
                found.setdefault(ast.dump(holder), []).append(node)
    return found


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Load())
    return ast.Name(node.id, ast.Load()) if isinstance(node, ast.Name) else node


def _is_straight(module: Module, node: ast.AST) -> bool:
    """Whether a statement runs exactly once when its function runs."""
    for parent in module.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return True
        if isinstance(parent, BRANCHING):
            return False
    return True


def pick(walk: Walk, value: Value, elements: list[Element], chain: Chain) -> Result:
    """Follow the element that the first step of a value's path names, or all that it can name."""
    step, rest = value.path[0], value.path[1:]
    if step.kind == "attr":
        return None
    index = _index(step.key)
    if index is None:
        if step.kind == "child":
            return None
        if not rest and not walk.spread and not walk.data:
            return [Origin("literal", value.module, value.node, chain, exact=False)]
        return _all(walk, elements, rest, chain)
    chosen = _at([part for e in elements for part in _expanded(e)], index)
    return _all(walk, chosen, rest, chain) if chosen else None


def _expanded(element: Element) -> list[Element]:
    """The elements of ``*name`` where the name is a list built in sight; else the starred element itself."""
    value = element.value
    if not isinstance(value.node, ast.Name) or value.path != (EACH,):
        return [element]
    definitions = lookup(value.module, value.node, Wanted(value.node.id))
    source = definitions[0].value if len(definitions) == 1 and definitions[0].kind == "value" else None
    start = starting_elements(value.at(source)) if source is not None and not definitions[0].path else None
    if start is None:
        return [element]
    scope = value.module.function(value.node) or value.module.tree
    return [*start, *grown(value, value.node, scope)]


def _index(key: str | int | None) -> int | None:
    if isinstance(key, int):
        return key
    return int(key) if key is not None and key.isdecimal() else None


def _at(elements: list[Element], index: int) -> list[Element]:
    """The elements that can stand at an index; several after the first one of unknown number."""
    ordered, place = (elements, index) if index >= 0 else (elements[::-1], -index - 1)
    for position, element in enumerate(ordered):
        if not element.single:
            return ordered[position:]
        if position == place:
            return [element]
    return []


def _all(walk: Walk, elements: list[Element], rest: Path, chain: Chain) -> Result:
    return walk.any_of(
        (e.value.at(e.value.node, (*e.value.path, *rest)), (*chain, Hop(e.value.module, e.value.node)))
        for e in elements
    )
