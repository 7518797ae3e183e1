"""exp of a large value: a formula for which torch has a stable function becomes that function.

Facts:

- ``file``, ``line``: the user's line of the exponential; ``column``, ``end_column``, ``end_line`` as for log-of-zero.
- ``op``: the exponential; ``value``: its argument at the first bad element.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, call_operand, candidates, module_of, operation_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import imports_torch
from firstcause.fix.softmaxes import shifted
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "exp-overflow"
NAMES = frozenset({"exp", "exp2", "expm1", "exp_", "expm1_", "cosh", "sinh"})
LOG, LOG1P, EXP = frozenset({"log"}), frozenset({"log1p"}), frozenset({"exp"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the exponential."""
    return operation_line(facts, project, _operand)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """softplus, logsumexp or softmax where they are written by hand; None for an exponential that is itself what is wanted."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, _operand) if module is not None else []
    if module is None or len(found) != 1:
        return None
    node, operand = found[0]
    made = (
        _softplus(project, module, node, operand)
        or _logsumexp(project, module, node, operand)
        or shifted(module, node, operand)
    )
    if made is None:
        return None
    edit, before, after = made
    site = module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Compute `{before}` at {site} without the exponential of a large value: exp reached {facts.get('value')}.",
        f"{site}: `{before}` becomes `{after}`, the same function, whose exponential is taken of no positive value.",
        f"Why `{module.segment(operand)}` grows: a value that large may be a fault of its own.",
    )


def _operand(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return call_operand(project, module, node, NAMES)


def _softplus(
    project: Project, module: Module, node: ast.expr, operand: ast.expr
) -> tuple[Edit, str, str] | None:
    """log(1 + exp(x)) and log1p(exp(x))."""
    around = module.parents.get(node)
    inside: ast.AST = node
    names = LOG1P
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add):
        other = around.left if around.right is node else around.right
        if number(project, Value(module, other)) != 1:
            return None
        inside, around, names = around, module.parents.get(around), LOG
    call = _call_on(project, module, inside, names)
    if call is None:
        return None
    after = f"torch.nn.functional.softplus({module.segment(operand)})"
    return (replaced(module, call, after), module.segment(call), after) if imports_torch(module) else None


def _logsumexp(
    project: Project, module: Module, node: ast.expr, operand: ast.expr
) -> tuple[Edit, str, str] | None:
    """log(sum(exp(x), dim))."""
    total = _call_on(project, module, node, frozenset({"sum"}))
    call = _call_on(project, module, total, LOG) if total is not None else None
    if total is None or call is None or not imports_torch(module):
        return None
    is_method = isinstance(total.func, ast.Attribute) and not _is_torch(total.func.value)
    arguments = [module.segment(a) for a in (total.args if is_method else total.args[1:])]
    arguments += [f"{k.arg}={module.segment(k.value)}" for k in total.keywords]
    if not arguments:
        return None
    after = f"torch.logsumexp({', '.join([module.segment(operand), *arguments])})"
    return replaced(module, call, after), module.segment(call), after


def _call_on(project: Project, module: Module, node: ast.AST, names: frozenset[str]) -> ast.Call | None:
    """The call of one of the names that works on a node: as its argument, or as a method of it."""
    parent = module.parents.get(node)
    call = module.parents.get(parent) if isinstance(parent, ast.Attribute) else parent
    if not isinstance(call, ast.Call):
        return None
    return call if call_operand(project, module, call, names) is node else None


def _is_torch(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "torch"
