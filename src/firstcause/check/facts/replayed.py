"""How many transitions an update of reinforcement learning draws from its buffer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.loops import ENVIRONMENTS
from firstcause.check.facts.values import value_of
from firstcause.source.module import DEFINED

# Functions that draw from what is given, with the argument that says how many.
DRAWS = {
    "random.sample": ("k", 1),
    "random.choices": ("k", None),
    "numpy.random.choice": ("size", 1),
    "numpy.random.randint": ("size", 2),
}
# What makes tensors of the rows that were drawn.
TENSORS = frozenset({"tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "stack", "cat"})


def replayed_facts(code: Code) -> Iterator[Fact]:
    """Facts of batch_size where a program with an environment draws rows and makes tensors of them."""
    if not any(code.imports(name) for name in ENVIRONMENTS) or "backward" not in code.called_names():
        return
    draws = [(c, name) for name in DRAWS for c in code.calls(name) if _makes_tensors(c) and _draws(c)]
    for call, name in draws:
        argument, position = DRAWS[name]
        count = value_of(call, argument, position)
        if (
            count is None
            or type(count.value) is not int
            or count.value < 2
            or not _is_alone(code, call, draws)
        ):
            continue
        how = f"{name}({argument}=)"
        yield Fact("batch_size", count.value, count.site, how, argument, not count.overridable)


def _makes_tensors(call: Call) -> bool:
    function = call.module.function(call.node)
    return isinstance(function, DEFINED) and any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in TENSORS
        for n in ast.walk(function)
    )


def _draws(call: Call) -> bool:
    """Whether rows are drawn, and no numbers for another use: what is drawn of numbers indexes something."""
    if not call.name.startswith("numpy."):
        return True
    first = call.node.args[0] if call.node.args else None
    if call.name.endswith("choice") and isinstance(first, (ast.Name, ast.Attribute)):
        return True
    statement = call.module.statement(call.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {t.id for t in targets if isinstance(t, ast.Name)}
    function = call.module.function(call.node) or call.module.tree
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.comprehension)) and _holds(node.iter, names, call.node):
            names |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return any(
        isinstance(n, ast.Subscript)
        and not any(isinstance(s, ast.Slice) for s in ast.walk(n.slice))
        and _holds(n.slice, names, call.node)
        for n in ast.walk(function)
    )


def _holds(node: ast.AST, names: set[str], call: ast.Call) -> bool:
    return any(n is call or (isinstance(n, ast.Name) and n.id in names) for n in ast.walk(node))


def _is_alone(code: Code, call: Call, draws: list[tuple[Call, str]]) -> bool:
    """Whether nothing else is drawn beside it for the same update, which would be a part of the batch as well."""
    function = call.module.function(call.node)
    if sum(c.module.function(c.node) is function for c, _ in draws) > 1:
        return False
    if not isinstance(function, DEFINED):
        return False
    callers = [c.module.function(c.node) for c in code.own_calls(function.name)]
    return len(callers) == len(set(callers))
