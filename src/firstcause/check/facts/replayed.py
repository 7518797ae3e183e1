"""How many transitions an update of reinforcement learning draws from its buffer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.loops import ENVIRONMENTS
from firstcause.check.facts.values import value_of

# Functions that draw from what is given, with the argument that says how many.
DRAWS = {
    "random.sample": ("k", 1),
    "random.choices": ("k", None),
    "numpy.random.choice": ("size", 1),
    "numpy.random.randint": ("size", 2),
}
# What makes tensors of the rows that were drawn.
TENSORS = frozenset({"tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "stack", "cat"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def replayed_facts(code: Code) -> Iterator[Fact]:
    """Facts of batch_size where a program with an environment draws rows and makes tensors of them."""
    if not any(code.imports(name) for name in ENVIRONMENTS) or "backward" not in code.called_names():
        return
    for name, (argument, position) in DRAWS.items():
        for call in code.calls(name):
            count = value_of(call, argument, position) if _makes_tensors(call) else None
            if count is not None and type(count.value) is int and count.value > 1:
                how = f"{name}({argument}=)"
                yield Fact("batch_size", count.value, count.site, how, argument, not count.overridable)


def _makes_tensors(call: Call) -> bool:
    function = call.module.function(call.node)
    return isinstance(function, FUNCTIONS) and any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in TENSORS
        for n in ast.walk(function)
    )
