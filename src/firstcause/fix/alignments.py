"""Two operands of one operation that should have had one shape: which of them to change, and the axis to add or take."""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, candidates, module_of
from firstcause.fix.rewrite import called
from firstcause.schema import Fix
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "div": ast.Div,
    "true_divide": ast.Div,
    "truediv": ast.Div,
    "pow": ast.Pow,
}


def patch_of_alignment(cause: str, facts: Facts, project: Project, root: str) -> Fix | None:
    """Give the operand its partner's shape; None where several ways pass, or the operand is not to be found."""
    module = module_of(facts, project)
    if module is None or not facts.get("only") or "other" not in facts:
        return None
    method = reshaping(tuple(facts["shape"]), tuple(facts["other"]))
    node = _operand(project, module, facts)
    if node is None or not method:
        return None
    site, text = module.site(node), module.segment(node)
    edits = called(module, node, method)
    for other in facts.get("also") or ():
        # All or none: half of them aligned is a program that nobody had.
        also = _operand(project, module, other) if module_of(other, project) is module else None
        if also is None:
            return None
        edits += called(module, also, method)
    return draft(
        project,
        root,
        cause,
        edits,
        f"Give `{text}` the shape {list(facts['other'])} of its partner at {site}: it has {list(facts['shape'])}.",
        f"{site}: `{text}` becomes `{text}{method}`; the result holds one value for each of its own, not for each pair.",
        "Other places that use the same tensor, and models trained on the broadcast values.",
    )


def reshaping(shape: tuple[int, ...], other: tuple[int, ...]) -> str:
    """The method that makes one shape the other where they differ by a single axis of size 1; else nothing."""
    if len(shape) == len(other) + 1:
        axes = [i for i in range(len(shape)) if shape[i] == 1 and shape[:i] + shape[i + 1 :] == other]
        return f".squeeze({_axis(axes[-1], len(shape))})" if axes else ""
    if len(other) == len(shape) + 1:
        axes = [i for i in range(len(other)) if other[i] == 1 and other[:i] + other[i + 1 :] == shape]
        return f".unsqueeze({_axis(axes[-1], len(other))})" if axes else ""
    return ""


def _axis(axis: int, count: int) -> int:
    return -1 if axis == count - 1 else axis


def _operand(project: Project, module: Module, facts: Facts) -> ast.expr | None:
    """The expression of an operand, where the line has only one such operation or the columns tell which."""
    function, place = str(facts.get("function") or ""), int(facts["operand"])

    def part(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
        return _part(project, module, node, function, place)

    found = candidates(project, module, facts, part)
    return found[0][1] if len(found) == 1 else None


def _part(project: Project, module: Module, node: ast.AST, function: str, place: int) -> ast.expr | None:
    if isinstance(node, ast.BinOp):
        kind = OPERATORS.get(
            function.lstrip("r") if function in ("rsub", "rmul", "radd", "rdiv") else function
        )
        if kind is None or not isinstance(node.op, kind):
            return None
        sides = (node.right, node.left) if function.startswith("r") else (node.left, node.right)
        return sides[place]
    if not isinstance(node, ast.Call):
        return None
    name = library_name(new_walk(project), Value(module, node))
    if name.startswith("torch.") and name.rpartition(".")[2] == function:
        given = argument(node, place, ("input", "target")[place] if place < 2 else None)
        return given.node if given is not None and given.sure else None
    if name == f".{function}" and isinstance(node.func, ast.Attribute):
        return node.func.value if place == 0 else (node.args[0] if len(node.args) == 1 else None)
    # A loss module is called with prediction and target.
    is_module = (
        function.endswith(("_loss", "entropy", "logits")) and len(node.args) == 2 and not node.keywords
    )
    return node.args[place] if is_module and not name.startswith(("torch.", "numpy.", ".")) else None
