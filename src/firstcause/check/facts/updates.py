"""After how many updates a loop is left, where its counter counts micro-batches: the bound is not what it seems."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import known_value, value_of
from firstcause.source.module import Module


def update_facts(code: Code) -> Iterator[Fact]:
    """A fact of max_steps for a counter that is raised in each micro-batch of ``accelerator.accumulate`` and ends the loop."""
    sizes = {
        found.value
        for c in code.calls("accelerate.Accelerator")
        if (found := value_of(c, "gradient_accumulation_steps")) is not None
    }
    every = sizes.pop() if len(sizes) == 1 else None
    if not isinstance(every, int) or every < 2 or not code.asked("max_steps"):
        return
    for module in code.modules:
        loops: list[ast.For | ast.While] = [*module.nodes(ast.For), *module.nodes(ast.While)]
        for loop in loops:
            if not any(_accumulates(n) for n in loop.body):
                continue
            for counter, place in _raised(module, loop):
                bound = _bound(code, module, loop, counter)
                if bound is not None:
                    how = f"{counter} counts micro-batches, {every} of them to an update"
                    yield Fact("max_steps", bound // every, module.site(place), how)


def _accumulates(node: ast.stmt) -> bool:
    return isinstance(node, ast.With) and any(
        isinstance(i.context_expr, ast.Call)
        and isinstance(i.context_expr.func, ast.Attribute)
        and i.context_expr.func.attr == "accumulate"
        for i in node.items
    )


def _raised(module: Module, loop: ast.For | ast.While) -> Iterator[tuple[str, ast.AugAssign]]:
    """Names to which each turn of the loop adds 1, whatever the accelerator says."""
    for node in module.inside(loop, ast.AugAssign):
        is_one = isinstance(node.value, ast.Constant) and node.value.value == 1
        if not is_one or not isinstance(node.op, ast.Add) or not isinstance(node.target, ast.Name):
            continue
        around = module.ancestors(node)
        inner = around[: around.index(loop)] if loop in around else around
        skipped = any(_skips(n) for n in loop.body if n.lineno < node.lineno)
        if not skipped and not any(isinstance(p, (ast.If, ast.For, ast.While)) for p in inner):
            yield node.target.id, node


def _skips(node: ast.stmt) -> bool:
    """``if not accelerator.sync_gradients: continue``: what follows is done once an update."""
    return (
        isinstance(node, ast.If)
        and "sync_gradients" in ast.unparse(node.test)
        and any(isinstance(n, ast.Continue) for n in node.body)
    )


def _bound(code: Code, module: Module, loop: ast.For | ast.While, counter: str) -> int | None:
    """The number at which a test of the counter leaves the loop."""
    tests = [n.test for n in module.inside(loop, ast.If) if any(isinstance(x, ast.Break) for x in n.body)]
    for test in (t for t in tests if isinstance(t, ast.Compare) and len(t.ops) == 1):
        if (
            isinstance(test.left, ast.Name)
            and test.left.id == counter
            and isinstance(test.ops[0], (ast.GtE, ast.Eq))
        ):
            known = known_value(code, module, test.comparators[0])
            if known is not None and isinstance(known.value, int) and not isinstance(known.value, bool):
                return known.value
    return None
