"""A softmax written by hand: an exponential that is used only to be divided by its own sum over an axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.fix.edits import Edit
from firstcause.fix.rewrite import atom, replaced
from firstcause.source import Module


def shifted(module: Module, node: ast.expr, operand: ast.expr) -> tuple[Edit, str, str] | None:
    """The exponential of the operand less its maximum along the axis, with the texts before and after.

    None where the exponential is used for anything else, or the operand would be computed twice.
    """
    if any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Await)) for n in ast.walk(operand)):
        return None
    axis = _axis(module, node)
    if axis is None or not isinstance(node, ast.Call):
        return None
    text = atom(module, operand)
    after = f"{module.segment(operand)} - {text}.amax({axis})"
    if isinstance(node.func, ast.Attribute) and node.func.value is operand:
        edit = replaced(module, node, f"({after}).{node.func.attr}()")
        return edit, module.segment(node), f"({after}).{node.func.attr}()"
    return replaced(module, operand, after), module.segment(operand), after


def _axis(module: Module, node: ast.expr) -> str | None:
    """The arguments of the sum by which the exponential, bound to one name, is divided."""
    statement = module.parents.get(node)
    function = module.function(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or function is None:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    uses = list(_uses(function, target.id))
    reads = [n for n in uses if isinstance(n.ctx, ast.Load)]
    # One binding and two reads, in one division.
    if len(uses) != 3 or len(reads) != 2:
        return None
    division = next((d for d in map(module.parents.get, reads) if isinstance(d, ast.BinOp)), None)
    if division is None or not isinstance(division.op, ast.Div) or division.left not in reads:
        return None
    return _sum_of(module, division.right, target.id)


def _uses(function: ast.AST, name: str) -> Iterator[ast.Name]:
    return (n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name)


def _sum_of(module: Module, node: ast.expr, name: str) -> str | None:
    """The arguments of ``name.sum(axis, keepdim=True)`` or ``torch.sum(name, axis, keepdim=True)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "sum":
        return None
    args = list(node.args)
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "torch":
        first = args.pop(0) if args else None
    else:
        first = node.func.value
    if not isinstance(first, ast.Name) or first.id != name:
        return None
    keywords = {k.arg: k.value for k in node.keywords}
    kept = keywords.pop("keepdim", None)
    axis = [*args, *(v for k, v in keywords.items() if k == "dim")]
    if not isinstance(kept, ast.Constant) or kept.value is not True or len(axis) != 1:
        return None
    return f"dim={module.segment(axis[0])}, keepdim=True" if set(keywords) <= {"dim"} else None
