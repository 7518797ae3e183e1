"""Which share of the data a program holds out where it cuts it in two at an index: ``rows[:cut]`` and ``rows[cut:]``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import share_of
from firstcause.source.frames import Value
from firstcause.source.module import Module

DIGITS = 6
PARTS = re.compile(
    r"(?<![a-z])(?:train|training|val|valid|validation|test|dev|eval|held)(?![a-z])", re.IGNORECASE
)


def cut_facts(code: Code) -> Iterator[Fact]:
    """Facts of data_split, where that was asked for; the smaller part is taken for the one that is held out."""
    if not code.asked("data_split"):
        return
    found = [f for module in code.modules for f in _of_module(code, module)]
    # Where it is cut once, into what is named a part of the data, and nothing else splits it, that is the share.
    alone = (
        len(found) == 1
        and _is_named(code, found[0])
        and not code.methods_and_calls("train_test_split", "random_split")
    )
    yield from (replace(f, confirms=not alone) for f in found)
    for module in code.modules:
        further = (*_in_three(code, module), *_counted_off(code, module))
        yield from (replace(f, confirms=True) for f in further)


def _in_three(code: Code, module: Module) -> Iterator[Fact]:
    """Data that is cut at two indices: ``rows[:a]``, ``rows[a:b]`` and ``rows[b:]``."""
    slices = list(module.nodes(ast.Slice))
    for cut in slices:
        if not isinstance(cut.lower, ast.Name) or not isinstance(cut.upper, ast.Name):
            continue
        first, second = (share_of(code, Value(module, n)) for n in (cut.lower, cut.upper))
        ends = any(_end(s) == cut.lower.id for s in slices) and any(_begin(s) == cut.upper.id for s in slices)
        if first is None or second is None or not ends:
            continue
        if (
            isinstance(first.value, float)
            and isinstance(second.value, float)
            and 0 < first.value < second.value < 1
        ):
            parts = [first.value, second.value - first.value, 1 - second.value]
            how = f"cut at {cut.lower.id} and {cut.upper.id}"
            yield Fact("data_split", [round(p, DIGITS) for p in parts], module.site(cut), how)


def _counted_off(code: Code, module: Module) -> Iterator[Fact]:
    """Every so many of the rows, where that is called a part of the data: ``held_out = rows[::10]``."""
    for cut in module.nodes(ast.Slice):
        if not _names_part(module, cut):
            continue
        every = code.constant(module, cut.step) if cut.step is not None and cut.upper is None else None
        if every is not None and type(every.value) is int and every.value > 1:
            yield Fact(
                "data_split", round(1 / every.value, DIGITS), module.site(cut), f"every {every.value}th"
            )


def _names_part(module: Module, cut: ast.Slice) -> bool:
    """Whether a slice of what is no part itself is assigned to the name of one."""
    statement, whole = module.statement(cut), module.parents.get(cut)
    if not isinstance(statement, ast.Assign) or not isinstance(whole, ast.Subscript):
        return False
    named = any(PARTS.search(ast.unparse(target)) for target in statement.targets)
    return named and not PARTS.search(ast.unparse(whole.value))


def _is_named(code: Code, fact: Fact) -> bool:
    """Whether the statements that take the parts speak of training and evaluation."""
    for module in code.modules:
        for assign in module.nodes(ast.Assign):
            if module.site(assign) == fact.site and isinstance(assign.targets[0], ast.Name):
                name = assign.targets[0].id
                taken = [s for s in module.nodes(ast.Slice) if name in (_end(s), _begin(s))]
                statements = [module.statement(s) for s in taken]
                return any(PARTS.search(module.segment(s)) for s in statements if s is not None)
    return False


def _of_module(code: Code, module: Module) -> Iterator[Fact]:
    ends = {name for name in map(_end, module.nodes(ast.Slice)) if name}
    begins = {name for name in map(_begin, module.nodes(ast.Slice)) if name}
    for assign in module.nodes(ast.Assign):
        target = assign.targets[0]
        if isinstance(target, ast.Name) and target.id in ends & begins:
            yield from _held_out(code, module, assign)


def _held_out(code: Code, module: Module, assign: ast.Assign) -> Iterator[Fact]:
    share = share_of(code, Value(module, assign.value))
    if share is None or not isinstance(share.value, float) or not 0 < share.value < 1:
        return
    # The smaller part is the one that is held out.
    part = round(min(share.value, 1 - share.value), DIGITS)
    how = f"cut at {ast.unparse(assign.value)}"
    yield Fact("data_split", part, module.site(assign), how)


def _end(node: ast.Slice) -> str:
    return node.upper.id if node.lower is None and isinstance(node.upper, ast.Name) else ""


def _begin(node: ast.Slice) -> str:
    """The name at which a slice begins, a few places before it or not: ``rows[cut - WINDOW :]``."""
    first = node.lower.left if isinstance(node.lower, ast.BinOp) else node.lower
    return first.id if node.upper is None and isinstance(first, ast.Name) else ""
