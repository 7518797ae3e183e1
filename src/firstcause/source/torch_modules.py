"""The children of torch's containers as the code gives them: by number, by name, from lists and dicts."""

from __future__ import annotations

import ast

from firstcause.source.containers import Element, pick
from firstcause.source.frames import Value
from firstcause.source.steps import EACH, Path, Step
from firstcause.source.walk import Chain, Hop, Result, Walk

CONTAINERS = {
    "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList",
    "torch.nn.ParameterDict", "torch.nn.modules.container.Sequential",
}  # fmt: skip


def container_child(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """Follow a child of a container's construction; the construction itself where no child is asked for."""
    if not value.path:
        return walk.stop("call", value, chain)
    step, rest = value.path[0], value.path[1:]
    if step.kind == "attr":
        return None
    elements = _elements(value, node)
    if not elements:
        return None
    key = step.key
    if isinstance(key, str) and not key.isdecimal():
        return _named(walk, value, elements[0].value, key, rest, chain)
    is_one_sequence = (
        len(node.args) == 1 and not isinstance(node.args[0], ast.Starred) and _takes_sequence(node)
    )
    if is_one_sequence:
        index = Step("item", int(key)) if key is not None else EACH
        found = walk.trace(value.at(node.args[0], (index, *rest)), (*chain, Hop(value.module, node.args[0])))
        return found if found is not None else _numbered(walk, value, node, key, rest, chain)
    return pick(walk, value.at(node, (_as_item(step), *rest)), elements, chain)


def _as_item(step: Step) -> Step:
    if step.kind == "child" and isinstance(step.key, str):
        return Step("item", int(step.key))
    return step


def _takes_sequence(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    # Sequential takes modules; given one OrderedDict it takes that apart.
    return name != "Sequential" or _is_dict(node.args[0])


def _is_dict(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in ("OrderedDict", "dict")
    return isinstance(node, ast.Dict)


def _elements(value: Value, node: ast.Call) -> list[Element]:
    return [
        Element(value.at(a.value, (EACH,)), single=False)
        if isinstance(a, ast.Starred)
        else Element(value.at(a))
        for a in node.args
    ]


def _named(walk: Walk, value: Value, source: Value, key: str, rest: Path, chain: Chain) -> Result:
    """The child of a name in ``{"name": module}`` or ``OrderedDict([("name", module)])``."""
    node = source.node
    pairs = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(pairs, (ast.List, ast.Tuple)):
        for pair in pairs.elts:
            if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and _says(pair.elts[0], key):
                return walk.trace(value.at(pair.elts[1], rest), (*chain, Hop(value.module, pair.elts[1])))
        return None
    found = walk.trace(source.at(node, (*source.path, Step("item", key), *rest)), chain)
    if found is None:
        # Keys that are computed: any value may be meant.
        return walk.trace(source.at(node, (*source.path, Step("item"), *rest)), chain)
    return found


def _numbered(
    walk: Walk, value: Value, node: ast.Call, key: str | int | None, rest: Path, chain: Chain
) -> Result:
    pairs = node.args[0].args[0] if isinstance(node.args[0], ast.Call) and node.args[0].args else None
    index = int(key) if key is not None else -1
    if isinstance(pairs, (ast.List, ast.Tuple)) and 0 <= index < len(pairs.elts):
        pair = pairs.elts[index]
        if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
            return walk.trace(value.at(pair.elts[1], rest), chain)
    return None


def _says(node: ast.expr, key: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == key
