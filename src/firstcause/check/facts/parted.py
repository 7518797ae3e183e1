"""Whether a program parts its data by whole groups or by single rows; only where a brief asks for groups."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SPLIT = "sklearn.model_selection.train_test_split"
# Methods and functions by which the rows of one table pick those of another; the first two by what they are called on, too.
JOINS = ("merge", "join")
PICKS = (*JOINS, "map", "reindex")
IS_AMONG = (ast.In, ast.NotIn)
GROUPED = ("GroupShuffleSplit", "GroupKFold", "StratifiedGroupKFold", "LeaveOneGroupOut", "LeavePGroupsOut")
# What makes whole groups of rows, or picks the rows of some: then the code parts them by itself.
GROUPS = frozenset({"unique", "drop_duplicates", "groupby", "isin", "nunique", *GROUPED})


def parted_facts(code: Code) -> Iterator[Fact]:
    """Facts of split_by."""
    if not code.asked("split_by"):
        return
    for call in code.calls(*(f"sklearn.model_selection.{name}" for name in GROUPED)):
        yield Fact("split_by", "group", call.site, call.name.rpartition(".")[2])
    for call in code.calls(SPLIT):
        shuffled = call.constant("shuffle")
        if shuffled is not None and shuffled.value is False:
            continue
        if not code.called_names() & GROUPS and _is_whole_table(code, call) and not _select(code):
            yield Fact("split_by", "rows", call.site, "train_test_split of a table's rows")


def _is_whole_table(code: Code, call: Call) -> bool:
    """Whether the rows of a table that pandas reads are parted, as they come."""
    if len(call.node.args) != 1 or call.may_have("shuffle"):
        return False
    made = code.made_by(call.module, call.node.args[0])
    return bool(made) and all(name.startswith("pandas.read_") for name in made)


def _select(code: Code) -> bool:
    """Whether the parted rows pick those of another table: ``scans.merge(train)``, ``scans.loc[train.patient]``."""
    for call in code.methods_and_calls(*PICKS):
        given = [*call.node.args, *(k.value for k in call.node.keywords)]
        if last_name(call.node.func) in JOINS:
            given.append(call.node.func)
        if not call.name.startswith("os.") and any(_of_split(code, call.module, one) for one in given):
            return True
    for module in code.modules:
        for node in module.nodes(ast.Subscript):
            is_place = isinstance(node.value, ast.Attribute) and node.value.attr == "loc"
            if is_place and _of_split(code, module, node.slice):
                return True
        for test in module.nodes(ast.Compare):
            asked = [r for op, r in zip(test.ops, test.comparators, strict=True) if isinstance(op, IS_AMONG)]
            if any(_of_split(code, module, rows) for rows in asked):
                return True
    return False


def _of_split(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a name in an expression holds a part of what was split, or a set or list of its rows."""
    if ".columns" in ast.unparse(node):
        return False
    for name in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
        for origin in code.origins(module, name):
            if ".columns" in ast.unparse(origin.node):
                continue
            inner = [n for n in ast.walk(origin.node) if isinstance(n, ast.Name)]
            if SPLIT in code.made_by(module, name) or any(
                SPLIT in code.made_by(origin.module, n) for n in inner
            ):
                return True
    return False
