"""Whether data are split at random or along time, where the brief speaks of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

# The values of data_split that say which rows are held out, and not how many.
BY_TIME, RANDOM = "by_time", "random"
_TIME = re.compile(
    r"(?:^|_)(?:date_?time|time|dates?|days?|years?|months?|weeks?|hours?|(?:time_?)?stamp|ts)(?:$|_)|^index$",
    re.IGNORECASE,
)
DATES = frozenset(
    {"pandas.Timestamp", "pandas.to_datetime", "datetime.datetime", "datetime.date", "numpy.datetime64"}
)
_SHUFFLED = ("sklearn.model_selection.ShuffleSplit", "sklearn.model_selection.StratifiedShuffleSplit")
_ORDERED = ("sklearn.model_selection.TimeSeriesSplit",)


def order_facts(code: Code) -> Iterator[Fact]:
    """Facts of data_split: ``random`` for a split that shuffles, ``by_time`` for one at a date or of rows in their order."""
    # "By speaker, never at random" may draw speakers: only a split along time refutes a random one.
    if not any(i.value == BY_TIME and i.polarity == "require" for i in code.asked("data_split")):
        return
    # Beside a cut in the rows' own order, which may be that of time, another part may be drawn.
    cut = any(_is_cut(node) for module in code.modules for node in module.nodes(ast.Subscript))
    for call in code.calls("torch.utils.data.random_split", *_SHUFFLED) if not cut else ():
        yield Fact("data_split", RANDOM, call.site, call.name.rpartition(".")[2])
    for call in code.methods_and_calls("train_test_split"):
        shuffles = _shuffles(call)
        if shuffles is not None and not (shuffles and cut):
            value = RANDOM if shuffles else BY_TIME
            yield Fact("data_split", value, call.site, "train_test_split(shuffle=)", confirms=not shuffles)
    for call in code.calls(*_ORDERED):
        yield Fact("data_split", BY_TIME, call.site, "TimeSeriesSplit", confirms=True)
    yield from _by_date(code)
    for module in code.modules:
        for node in module.nodes(ast.Subscript):
            if _at_a_date(node) or (isinstance(node.slice, ast.Slice) and _is_sorted(module)):
                yield Fact("data_split", BY_TIME, module.site(node), "rows by their time", confirms=True)
                return


def _is_cut(node: ast.Subscript) -> bool:
    """Whether rows up to a place, or from one on, are taken: ``table.iloc[:cut]``, ``rows[cut:]``."""
    part = node.slice
    if (
        not isinstance(part, ast.Slice)
        or part.step is not None
        or (part.lower is None) is (part.upper is None)
    ):
        return False
    return isinstance(part.lower or part.upper, (ast.Name, ast.Call, ast.BinOp))


def _by_date(code: Code) -> Iterator[Fact]:
    """A comparison of the rows' time with a date."""
    for module in code.modules:
        for node in module.nodes(ast.Compare):
            for side in (node.left, *node.comparators):
                names = code.made_by(module, side) if isinstance(side, (ast.Name, ast.Call)) else set()
                if names and names <= DATES:
                    yield Fact(
                        "data_split", BY_TIME, module.site(node), "a comparison with a date", confirms=True
                    )
                    return


def _shuffles(call: Call) -> bool | None:
    """Whether a split shuffles, as it does unless it is told not to; None where the code does not say."""
    if not call.may_have("shuffle"):
        return True
    given = call.constant("shuffle")
    return bool(given.value) if given is not None else None


def _at_a_date(node: ast.Subscript) -> bool:
    """``frame[frame.index < end]``, ``rows[rows["day"] >= first]``."""
    tests = [n for n in ast.walk(node.slice) if isinstance(n, ast.Compare)]
    return any(
        isinstance(t.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and _is_time(side)
        for t in tests
        for side in (t.left, t.comparators[0])
    )


def _is_time(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return bool(_TIME.search(str(node.slice.value)))
    if isinstance(node, ast.Attribute) and node.attr in ("dt", "year", "month", "values"):
        return node.attr in ("year", "month") or _is_time(node.value)
    return bool(_TIME.search(last_name(node)))


def _is_sorted(module: Module) -> bool:
    """Whether rows are sorted by a column of times before they are cut."""
    return any(
        last_name(c.func) in ("sort_values", "sort", "sort_by")
        and any(
            isinstance(a, ast.Constant) and _TIME.search(str(a.value))
            for a in [*c.args, *(k.value for k in c.keywords)]
        )
        for c in module.nodes(ast.Call)
    )
