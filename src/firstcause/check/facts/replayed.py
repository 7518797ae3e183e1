"""How many transitions an update of reinforcement learning draws from its buffer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.loops import ENVIRONMENTS
from firstcause.check.facts.values import value_of
from firstcause.source.module import FUNCTIONS

# Functions that draw from what is given, with the argument that says how many.
DRAWS = {
    "random.sample": ("k", 1),
    "random.choices": ("k", None),
    "numpy.random.choice": ("size", 1),
    "numpy.random.randint": ("size", 2),
}
# Of these, the ones that give the rows themselves.
ROWS = frozenset({"random.sample", "random.choices"})
# What makes tensors of the rows that were drawn.
TENSORS = frozenset({"tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "stack", "cat"})


def replayed_facts(code: Code) -> Iterator[Fact]:
    """Facts of batch_size where a program with an environment draws rows and makes tensors of them."""
    if not any(code.imports(name) for name in ENVIRONMENTS) or "backward" not in code.called_names():
        return
    drawn = [(call, *DRAWS[name]) for name in DRAWS for call in code.calls(name)]
    for call, argument, position in drawn:
        beside = [c for c, *_ in drawn if c.module.function(c.node) is call.module.function(call.node)]
        # Several draws may be parts of one batch.
        if len(beside) == 1 and _makes_tensors(call) and _is_of_rows(call):
            count = value_of(call, argument, position)
            if count is not None and type(count.value) is int and count.value > 1:
                how = f"{call.name}({argument}=)"
                yield Fact("batch_size", count.value, count.site, how, argument, not count.overridable)


def _makes_tensors(call: Call) -> bool:
    function = call.module.function(call.node)
    return isinstance(function, FUNCTIONS) and any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in TENSORS
        for n in ast.walk(function)
    )


def _is_of_rows(call: Call) -> bool:
    """Whether rows are drawn, or their numbers: what something is indexed by, one by one or all at once."""
    if call.name in ROWS:
        return True
    function, statement = call.module.function(call.node), call.module.statement(call.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {t.id for t in targets if isinstance(t, ast.Name)}
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, (ast.comprehension, ast.For)) and isinstance(node.target, ast.Name):
            over = node.iter
            names |= (
                {node.target.id}
                if over is call.node or (isinstance(over, ast.Name) and over.id in names)
                else set()
            )
    indices = (
        (n.slice for n in ast.walk(function) if isinstance(n, ast.Subscript)) if function is not None else ()
    )
    return any(i is call.node or (isinstance(i, ast.Name) and i.id in names) for i in indices)
