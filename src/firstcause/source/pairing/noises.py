"""Random numbers that are a target and in no input: a function draws others for the input than those that it is asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from firstcause.source.callsites import last_name
from firstcause.source.module import FunctionNode, Module
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed, one_line
from firstcause.source.rewrites import Rewrite

# What draws the noise of a batch; what draws row numbers is another matter.
DRAWS = frozenset({"rand", "rand_like", "randn", "randn_like", "normal", "standard_normal"})
# What compares element by element.
COMPARES = frozenset(
    {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "MSELoss", "L1Loss", "HuberLoss"}
)
POWERS = frozenset({"abs", "norm", "pow", "square"})
CRITERION = ("loss", "crit", "mse", "l1", "huber")
# Programs that compare a sample with drawn ones as a whole, or noisy targets with noisy inputs.
MATCHED = re.compile(
    r"\bmmd|_mmd|sinkhorn|wasserstein|sliced|SamplesLoss|noise.?(2|to).?noise|\bn2n", re.IGNORECASE
)
MOST_NAMES = 4


def find(module: Module, others: Sequence[Module] = ()) -> Iterator[Parting]:
    """Such a drawn name, with each other draw of the same step that it could stand for; functions may stand in other files."""
    if MATCHED.search(module.text):
        return
    modules = [module, *(m for m in others if m is not module)]
    for function in module.nodes(ast.FunctionDef):
        for drawn in module.inside(function, ast.Assign):
            name = _drawn_name(module, function, drawn)
            if name is None or not _is_only_target(module, function, name):
                continue
            yield from _at_calls(modules, function, drawn, name)
            yield from _in_line(module, function, drawn, name)


def _drawn_name(module: Module, function: FunctionNode, assign: ast.Assign) -> str | None:
    """The name of a draw in a function itself, where it is given no other value there."""
    target = assign.targets[0]
    if len(assign.targets) != 1 or not isinstance(target, ast.Name):
        return None
    value = assign.value
    # ``noise = default(noise, lambda: torch.randn_like(x))``.
    by_default = (
        isinstance(value, ast.Call) and len(value.args) > 1 and module.segment(value.args[0]) == target.id
    )
    if not _is_draw(value) and not (by_default and _has_draw(module, value)):
        return None
    stored = [
        n for n in module.inside(function, ast.Name) if n.id == target.id and isinstance(n.ctx, ast.Store)
    ]
    return target.id if len(stored) == 1 and module.function(assign) is function else None


def _is_draw(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in DRAWS


def _is_only_target(module: Module, function: FunctionNode, name: str, most: int = MOST_NAMES) -> bool:
    """Whether a name is compared with a prediction, itself or what it is reckoned into, and stands nowhere else."""
    uses = [
        n
        for n in module.inside(function, ast.Name)
        if n.id == name and isinstance(n.ctx, ast.Load) and not _is_asked(module, n)
    ]
    return bool(uses) and most > 0 and all(_is_compared(module, n, most) for n in uses)


def _is_asked(module: Module, node: ast.Name) -> bool:
    """Whether a use only asks whether there is a value, or gives the name its own default."""
    statement, parent = module.statement(node), module.parents.get(node)
    own = isinstance(statement, ast.Assign) and module.segment(statement.targets[0]) == node.id
    return own or (isinstance(parent, ast.Compare) and "None" in module.segment(parent))


def _is_compared(module: Module, node: ast.AST, most: int) -> bool:
    """Whether a value goes into a loss by element, through differences, factors and other names alone.

    What a sum is made of may be a noisy target, of which a part can be predicted.
    """
    child, parent = node, module.parents.get(node)
    while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
            return False
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub) and _is_power(module, parent):
            return True
        child, parent = parent, module.parents.get(parent)
    if isinstance(parent, ast.Call) and child in parent.args:
        called = last_name(parent.func.func if isinstance(parent.func, ast.Call) else parent.func)
        own = next((f for f in module.nodes(ast.FunctionDef) if f.name == called), None)
        if own is not None:
            named = [a.arg for a in own.args.args][parent.args.index(child) :]
            at = named[1:] if module.method_class(own) is not None else named
            return bool(at) and _is_only_target(module, own, at[0], most - 1)
        return called in COMPARES or any(w in called.lower() for w in CRITERION)
    if isinstance(parent, ast.keyword):
        call = module.parents.get(parent)
        return parent.arg == "target" and isinstance(call, ast.Call) and last_name(call.func) in COMPARES
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        function = module.function(parent)
        return function is not None and _is_only_target(module, function, parent.targets[0].id, most - 1)
    return False


def _is_power(module: Module, difference: ast.BinOp) -> bool:
    """Whether a difference is squared, or its size is taken."""
    parent = module.parents.get(difference)
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Pow) and parent.left is difference
    return isinstance(parent, ast.Attribute) and parent.attr in POWERS


def _at_calls(
    modules: Sequence[Module], function: FunctionNode, drawn: ast.Assign, name: str
) -> Iterator[Parting]:
    """Calls that leave out an argument in whose place the called function draws."""
    module = modules[0]
    callees = [(m, f) for m in modules for f in m.nodes(ast.FunctionDef) if f is not function]
    for call in module.inside(function, ast.Call):
        statement = module.statement(call)
        if call.lineno <= drawn.lineno or not isinstance(statement, ast.stmt):
            continue
        for owner, callee in callees:
            for parameter in _left_out(owner, callee, call) if callee.name == last_name(call.func) else ():
                text = module.segment(call).rstrip()[:-1].rstrip().rstrip(",")
                given = f"{text}{', ' if call.args or call.keywords else ''}{parameter}={name})"
                words = (
                    f"`{name}` is drawn and compared with a prediction, and in no input: "
                    f"`{one_line(module, call)}` leaves `{parameter}` out, and draws another"
                )
                way = (Rewrite(module, statement, changed(module, statement, (call, given))),)
                yield Parting(module, statement, words, (way,))


def _left_out(module: Module, callee: ast.FunctionDef, call: ast.Call) -> list[str]:
    """The optional arguments that a call does not give, and that are drawn where they are None."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return []
    named = [a.arg for a in (*callee.args.posonlyargs, *callee.args.args)]
    optional = [*named[len(named) - len(callee.args.defaults) :], *(a.arg for a in callee.args.kwonlyargs)]
    method = module.method_class(callee) is not None and named[:1] in (["self"], ["cls"])
    given = {*named[: len(call.args) + method], *(k.arg for k in call.keywords)}
    return [p for p in optional if p not in given and _draws_for(module, callee, p)]


def _draws_for(module: Module, callee: ast.FunctionDef, parameter: str) -> bool:
    """Whether a function draws where its argument is None: by a test, or in one expression."""
    for branch in module.inside(callee, ast.If):
        drawn = [
            s
            for s in (*branch.body, *branch.orelse)
            if isinstance(s, ast.Assign)
            and module.segment(s.targets[0]) == parameter
            and _has_draw(module, s)
        ]
        if drawn and _asks(module, branch.test, parameter):
            return True
    for one in module.inside(callee, ast.IfExp):
        if _asks(module, one.test, parameter) and _has_draw(module, one):
            return True
    calls = module.inside(callee, ast.Call)
    # ``noise = default(noise, lambda: torch.randn_like(x))``.
    return any(
        c.args and module.segment(c.args[0]) == parameter and any(_has_draw(module, a) for a in c.args[1:])
        for c in calls
    )


def _asks(module: Module, test: ast.expr, parameter: str) -> bool:
    return parameter in {n.id for n in module.inside(test, ast.Name)} and "None" in module.segment(test)


def _has_draw(module: Module, node: ast.AST) -> bool:
    return any(_is_draw(c) for c in module.inside(node, ast.Call))


def _in_line(module: Module, function: FunctionNode, drawn: ast.Assign, name: str) -> Iterator[Parting]:
    """The same draw written once more within a statement of the function."""
    for call in module.inside(function, ast.Call):
        statement = module.statement(call)
        again = _is_draw(call) and ast.dump(call) == ast.dump(drawn.value) and call is not drawn.value
        if not again or not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
            continue
        if call.lineno > drawn.lineno and module.function(call) is function:
            words = (
                f"`{name}` is drawn and compared with a prediction, and in no input: "
                f"`{one_line(module, statement)}` draws another"
            )
            way = (Rewrite(module, statement, changed(module, statement, (call, name))),)
            yield Parting(module, statement, words, (way,))
