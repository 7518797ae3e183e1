"""How many batches a loop takes from an iterator: ``for batch in islice(batches, 8)``."""

from __future__ import annotations

import ast

from firstcause.check.code import Code
from firstcause.check.constants import Constant
from firstcause.check.facts.values import known_value
from firstcause.source.callsites import last_name
from firstcause.source.module import Module


def islice_count(code: Code, module: Module, loop: ast.For | ast.While) -> Constant | None:
    """The number of batches that the loop takes at a time, where the code says it."""
    call = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(call, ast.Call) or last_name(call.func) != "islice" or len(call.args) != 2:
        return None
    found = known_value(code, module, call.args[1])
    return found if found is not None and type(found.value) is int and found.value > 1 else None
