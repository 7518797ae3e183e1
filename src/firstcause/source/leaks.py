"""Where a program puts the target itself among the columns of its input."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.source.module import Module
from firstcause.source.project import Project

JOINING = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "column_stack", "c_"})
PAIRS = frozenset({"TensorDataset", "zip", "ArrayDataset", "train_test_split"})


@dataclass(frozen=True, eq=False)
class Leak:
    """The expression that holds the target, in the file in which it is joined to the input or written into it."""

    module: Module
    node: ast.expr


def leak(project: Project) -> Leak | None:
    """The one place; None where there is none, or more than one could be meant."""
    for hops in (0, 1):
        found = [Leak(m, n) for m in project.modules for n in _joined(m, _targets(m, hops))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _joined(module: Module, names: set[str]) -> Iterator[ast.expr]:
    for call in module.nodes(ast.Call):
        last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        parts = call.args[0].elts if call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
        if last in JOINING and len(parts) > 1:
            own = [p for p in parts if _names(p) & names]
            yield from own if len(own) < len(parts) else ()
    for assign in module.nodes(ast.Assign):
        if (
            isinstance(assign.targets[0], ast.Subscript)
            and _names(assign.value) & names
            and not _names(assign.targets[0]) & names
        ):
            yield assign.value


def _targets(module: Module, hops: int) -> set[str]:
    """The names that a program pairs with its inputs, in second place; with a hop, those made from them besides."""
    found: set[str] = set()
    for call in module.nodes(ast.Call):
        last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if last in PAIRS and len(call.args) == 2:
            found |= _names(call.args[1])
    for node in module.nodes(ast.Return):
        function = module.function(node)
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2 and function is not None:
            found |= _names(node.value.elts[1])
    for _ in range(hops):
        for assign in module.nodes(ast.Assign):
            if _names(assign.value) & found:
                found |= {t.id for t in assign.targets if isinstance(t, ast.Name)}
    return found


def _names(node: ast.AST) -> set[str]:
    """The last part of each name that a value is made of; indices and functions are none of them."""
    found: set[str] = set()
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            if isinstance(one.value, ast.Name) and one.value.id == "self":
                found.add(one.attr)
            else:
                stack.append(one.value)
        elif isinstance(one, ast.Subscript):
            stack.append(one.value)
        elif isinstance(one, ast.Call):
            stack += [one.func.value] if isinstance(one.func, ast.Attribute) else []
            stack += one.args
        else:
            stack += list(ast.iter_child_nodes(one))
    return found - {"torch", "np", "numpy", "F"}
