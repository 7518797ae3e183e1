"""Schedules that a function of the step computes: the steps it warms up over, and whether it follows a cosine."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import known_value
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve


def lambda_facts(code: Code) -> Iterator[Fact]:
    """Facts of warmup_steps and scheduler from the functions that are given to LambdaLR."""
    for call in code.calls("torch.optim.lr_scheduler.LambdaLR"):
        for module, function in _functions(code, call):
            yield from _of_factor(code, call, module, function)
    yield from _by_hand(code)


def _by_hand(code: Code) -> Iterator[Fact]:
    """A rate that is set by hand to what a cosine gives: ``group["lr"] = base * 0.5 * (1 + math.cos(…))``."""
    for module in code.modules if code.asked("scheduler") else ():
        for assign in module.nodes(ast.Assign):
            target = assign.targets[0]
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == "lr"
                and any(last_name(n.func) == "cos" for n in ast.walk(assign.value) if isinstance(n, ast.Call))
            ):
                how = "a rate that is set by a cosine"
                yield Fact("scheduler", "cosine", module.site(assign), how, confirms=True)


def _of_factor(
    code: Code, call: Call, module: Module, function: ast.FunctionDef | ast.Lambda
) -> Iterator[Fact]:
    if any(
        last_name(n.func) in ("sqrt", "rsqrt") for n in ast.walk(function) if isinstance(n, ast.Call)
    ) or any(
        isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow) and ast.unparse(n.right) == "-0.5"
        for n in ast.walk(function)
    ):
        how = "a factor that falls with the root of the steps"
        yield Fact("scheduler", "inverse_sqrt", call.site, how, confirms=True)
    elif any(last_name(n.func) == "cos" for n in ast.walk(function) if isinstance(n, ast.Call)):
        yield Fact("scheduler", "cosine", call.site, "a factor that follows a cosine")
    elif any(_falls(n, function.args.args[-1].arg) for n in ast.walk(function) if function.args.args):
        yield Fact("scheduler", "linear", call.site, "a factor that falls with the steps", confirms=True)
    yield from _warmup(code, module, function)


def _falls(node: ast.AST, step: str) -> bool:
    """``1 - step / total``, or ``(total - step) / total``."""
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant) and node.left.value == 1:
        return (
            isinstance(node.right, ast.BinOp)
            and isinstance(node.right.op, ast.Div)
            and _names(node.right, step)
        )
    over = (
        isinstance(node.op, ast.Div)
        and isinstance(node.left, ast.BinOp)
        and isinstance(node.left.op, ast.Sub)
    )
    return over and isinstance(node.left, ast.BinOp) and _names(node.left.right, step)


def _functions(code: Code, call: Call) -> list[tuple[Module, ast.FunctionDef | ast.Lambda]]:
    """The functions that compute the factor: one, or one for each group of parameters."""
    given = call.argument("lr_lambda", 1)
    if given is None:
        return []
    listed = isinstance(given.node, (ast.List, ast.Tuple))
    found = [_function(code, given.module, n) for n in (given.node.elts if listed else [given.node])]  # type: ignore[attr-defined]
    return [f for f in found if f is not None]


def _function(
    code: Code, module: Module, node: ast.AST
) -> tuple[Module, ast.FunctionDef | ast.Lambda] | None:
    if isinstance(node, ast.Lambda):
        return module, node
    if not isinstance(node, ast.expr):
        return None
    if isinstance(node, ast.Call):
        return _made_by(code, module, node)
    found = resolve(code.project, module, node)
    if isinstance(found, Defined) and isinstance(found.node, ast.FunctionDef):
        return found.module, found.node
    named = [o for o in code.origins(module, node) if isinstance(o.node, ast.Lambda)]
    return (named[0].module, named[0].node) if len(named) == 1 else None  # type: ignore[return-value]


def _made_by(
    code: Code, module: Module, call: ast.Call
) -> tuple[Module, ast.FunctionDef | ast.Lambda] | None:
    """The function that a function of the project's own gives back: ``LambdaLR(optimizer, warmup_cosine(500, 9000))``."""
    maker = resolve(code.project, module, call.func)
    if not isinstance(maker, Defined) or not isinstance(maker.node, ast.FunctionDef):
        return None
    inner = {n.name: n for n in maker.node.body if isinstance(n, ast.FunctionDef)}
    given = [n.value for n in maker.node.body if isinstance(n, ast.Return)]
    if len(given) != 1:
        return None
    if isinstance(given[0], ast.Lambda):
        return maker.module, given[0]
    name = given[0].id if isinstance(given[0], ast.Name) else ""
    return (maker.module, inner[name]) if name in inner else None


def _warmup(code: Code, module: Module, function: ast.FunctionDef | ast.Lambda) -> Iterator[Fact]:
    """The bound below which the factor is the step divided by it: ``if step < 500: return step / 500``."""
    arguments = function.args.args
    step = arguments[-1].arg if arguments else ""
    yield from _least(code, module, function, step)
    divisors = {
        ast.unparse(part)
        for n in ast.walk(function)
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and _names(n.left, step)
        for part in ast.walk(n.right)
        if isinstance(part, ast.expr)
    }
    for test in ast.walk(function):
        if (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.ops[0], (ast.Lt, ast.LtE))
            and _names(test.left, step)
            and ast.unparse(test.comparators[0]) in divisors
        ):
            bound = known_value(code, module, test.comparators[0])
            if bound is not None and isinstance(bound.value, int) and bound.value > 1:
                how = "the bound of the warm-up"
                yield Fact("warmup_steps", bound.value, bound.site, how, sure=not bound.overridable)
                return


def _least(code: Code, module: Module, function: ast.FunctionDef | ast.Lambda, step: str) -> Iterator[Fact]:
    """``min(step / 4000, …)``: the factor grows until the step is that large."""
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or last_name(call.func) != "min" or len(call.args) != 2:
            continue
        if not _is_factor(module, call):
            continue
        for part in call.args:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div) and _names(part.left, step):
                bound = known_value(code, module, part.right)
                if bound is not None and isinstance(bound.value, int) and bound.value > 1:
                    how = "the bound of the warm-up"
                    yield Fact("warmup_steps", bound.value, bound.site, how, sure=not bound.overridable)
                    return


def _is_factor(module: Module, node: ast.AST) -> bool:
    """Whether a value is what the function gives back, or a factor of it: not what is taken off 1, nor under a cosine."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        return _is_factor(module, parent)
    return isinstance(parent, (ast.Return, ast.Lambda))


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
