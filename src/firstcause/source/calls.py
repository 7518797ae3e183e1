"""How a walk goes through a call: into the project's functions and objects, past library calls that only pass on."""

from __future__ import annotations

import ast

from firstcause.source.callees import Callee, callees
from firstcause.source.frames import Instance, Value
from firstcause.source.functions import enter
from firstcause.source.library import library
from firstcause.source.objects import part
from firstcause.source.walk import Chain, Origin, Result, Walk


def call(walk: Walk, value: Value, chain: Chain) -> Result:
    """Follow a call to what it gives back."""
    assert isinstance(value.node, ast.Call)
    found = callees(walk, value.at(value.node))
    if not found:
        return walk.stop("call", value, chain)
    results = [_one(walk, value, callee, chain) for callee in found]
    if all(r is None for r in results):
        return walk.stop("call", value, chain)
    origins: list[Origin] = []
    for result in results:
        if result is None:
            result = walk.stop("call", value, chain) or [
                Origin("unknown", value.module, value.node, chain, exact=False)
            ]
        origins += result
    return origins


def _one(walk: Walk, value: Value, callee: Callee, chain: Chain) -> Result:
    if callee.name:
        return library(walk, value, callee.name, chain)
    if callee.function is not None and callee.module is not None:
        return enter(walk, callee.module, callee.frame(value.at(value.node)), value.path, chain)
    if callee.cls is not None and callee.module is not None:
        instance = Instance(callee.module, callee.cls, value.at(value.node))
        if value.path:
            return part(walk, instance, value.path, chain)
        return [Origin("call", value.module, value.node, chain, value=value, instance=instance)]
    return None
