"""How a walk goes from ``a.b``: a module's variable, an object's attribute, a class's own value."""

from __future__ import annotations

import ast

from firstcause.source.definitions import Wanted, reaching
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.objects import class_part
from firstcause.source.resolve import Defined, resolve
from firstcause.source.steps import Step
from firstcause.source.variables import follow, module_variable, wanted_key
from firstcause.source.walk import Chain, Result, Walk

# Attributes that hold the same numbers as their object.
SAME_DATA = ("values", "T", "mT", "data", "real")


def attribute(walk: Walk, value: Value, chain: Chain) -> Result:
    """Follow an attribute to what was assigned to it."""
    node, path = value.node, value.path
    assert isinstance(node, ast.Attribute)
    base = resolve(walk.project, value.module, node.value)
    if isinstance(base, Module):
        found = module_variable(walk, base, node.attr, path, chain)
    elif isinstance(base, Defined) and isinstance(base.node, ast.ClassDef):
        found = class_part(walk, base, (Step("attr", node.attr), *path), chain)
    elif isinstance(base, Defined):
        found = None
    elif isinstance(base, str):
        return walk.stop("attribute", value, chain)
    else:
        found = _of_object(walk, value, node, chain)
    if found is None and walk.data and node.attr in SAME_DATA:
        found = walk.trace(value.at(node.value, path), chain)
    return found if found is not None else walk.stop("attribute", value, chain)


def _of_object(walk: Walk, value: Value, node: ast.Attribute, chain: Chain) -> Result:
    if isinstance(node.value, ast.Name):
        wanted = Wanted(node.value.id, node.attr, wanted_key(value.path))
        here = reaching(value.module, node, wanted)
        if here.found and here.complete:
            return follow(walk, value, here.found, wanted, chain)
    return walk.trace(value.at(node.value, (Step("attr", node.attr), *value.path)), chain)
