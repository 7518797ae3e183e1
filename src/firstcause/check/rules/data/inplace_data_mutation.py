"""A data set changes the stored sample that it hands out.

Why: the change stays: each epoch normalises, scales or cuts what the last one left, and the data drift.
Refuted by: a copy first, an operation that makes a new array, samples read anew from disk.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "inplace-data-mutation"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Tensor methods that change their object, and those of lists and dictionaries.
CHANGES = frozenset(
    {"mul_", "div_", "add_", "sub_", "clamp_", "normalize_", "copy_", "fill_", "pop", "append", "insert"}
)


def find(code: Code) -> Iterator[Finding]:
    for dataset in code.subclasses_of("torch.utils.data.Dataset"):
        assert isinstance(dataset.node, ast.ClassDef)
        for method in dataset.node.body:
            if (
                not isinstance(method, ast.FunctionDef)
                or method.name != "__getitem__"
                or len(method.args.args) < 2
            ):
                continue
            stored = _stored(method)
            for node in ast.walk(method):
                name = _changed(node)
                if name in stored:
                    text = f"{name} is the stored sample itself, and this changes it for all later epochs; copy it first"
                    yield finding(SLUG, CATEGORY, dataset.module, node, text)
                    break


def _stored(method: ast.FunctionDef) -> set[str]:
    """The names bound once, to ``self.x[index]`` as it is."""
    index = method.args.args[1].arg
    found: dict[str, list[bool]] = {}
    for node in ast.walk(method):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if (
                isinstance(target, ast.Tuple)
                and isinstance(node.value, ast.Tuple)
                and len(target.elts) == len(node.value.elts)
            ):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for one, value in pairs:
                if isinstance(one, ast.Name):
                    found.setdefault(one.id, []).append(_is_item(value, index))
    return {name for name, kinds in found.items() if kinds == [True]}


def _is_item(value: ast.expr, index: str) -> bool:
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Name)
        and value.slice.id == index
        and isinstance(value.value, ast.Attribute)
        and isinstance(value.value.value, ast.Name)
        and value.value.value.id == "self"
    )


def _changed(node: ast.AST) -> str:
    """The name whose object a statement changes: ``x -= m`` (arrays), ``x[…] = …``, ``x.div_(s)``."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                return target.value.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
        return node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    return ""


_BODY = """
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = {row}
        {change}{mark}
        return row
"""
BAD = (
    Example(_BODY.format(row="self.rows[i]", change='row["x"] = (row["x"] - 0.5) / 0.2', mark="  # found")),
    Example(_BODY.format(row="self.rows[i]", change="row.div_(255)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(row="dict(self.rows[i])", change='row["x"] = row["x"] / 255', mark="")),
    Example(_BODY.format(row="self.rows[i]", change="row = row / 255", mark="")),
    Example(_BODY.format(row="self.rows[i].clone()", change="row.div_(255)", mark="")),
)
