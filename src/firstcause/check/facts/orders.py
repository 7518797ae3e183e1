"""Whether data are split at random or along time, where the brief speaks of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.orders_of_rows import BY_TIME, RANDOM
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

_TIME = re.compile(
    r"(?:^|_)(?:(?:date)?times?|(?:time)?stamps?|dates?|days?|years?|months?|weeks?|hours?)(?:$|_)|^index$|^ts$",
    re.IGNORECASE,
)
DATES = frozenset(
    {"pandas.Timestamp", "pandas.to_datetime", "datetime.datetime", "datetime.date", "numpy.datetime64"}
)
_SHUFFLED = ("sklearn.model_selection.ShuffleSplit", "sklearn.model_selection.StratifiedShuffleSplit")
_MIXES = frozenset({"randperm", "permutation", "sample", "shuffled"})
_ORDERED = ("sklearn.model_selection.TimeSeriesSplit",)


def order_facts(code: Code) -> Iterator[Fact]:
    """Facts of data_split: ``random`` for a split that shuffles, ``by_time`` for one at a date or of rows in their order."""
    # "By speaker, never at random" may draw speakers: only a split along time refutes a random one.
    if not any(i.value == BY_TIME and i.polarity == "require" for i in code.asked("data_split")):
        return
    # Cut by place as well, the random part may be that of which the brief does not say so.
    cut = _is_cut_by_place(code)
    for call in code.calls("torch.utils.data.random_split", *_SHUFFLED):
        yield Fact("data_split", RANDOM, call.site, call.name.rpartition(".")[2], confirms=cut)
    for call in code.methods_and_calls("train_test_split"):
        shuffles = _shuffles(call)
        if shuffles is not None:
            value = RANDOM if shuffles else BY_TIME
            how = "train_test_split(shuffle=)"
            yield Fact("data_split", value, call.site, how, confirms=cut or not shuffles)
    for call in code.calls(*_ORDERED):
        yield Fact("data_split", BY_TIME, call.site, "TimeSeriesSplit", confirms=True)
    yield from _by_date(code)
    for module in code.modules:
        for node in module.nodes(ast.Subscript):
            if _at_a_date(node) or (isinstance(node.slice, ast.Slice) and _is_sorted(module)):
                yield Fact("data_split", BY_TIME, module.site(node), "rows by their time", confirms=True)
                return


def _is_cut_by_place(code: Code) -> bool:
    """Whether rows are cut in two at a place, in the order in which they stand: ``rows[:cut]`` and ``rows[cut:]``."""
    for module in code.modules:
        begins: set[tuple[str, str]] = set()
        ends: set[tuple[str, str]] = set()
        for node in module.nodes(ast.Subscript):
            cut = node.slice
            if not isinstance(cut, ast.Slice) or cut.step is not None or _is_mixed(code, module, node.value):
                continue
            if cut.lower is None and cut.upper is not None:
                ends.add((ast.unparse(node.value), ast.unparse(cut.upper)))
            elif cut.upper is None and cut.lower is not None:
                begins.add((ast.unparse(node.value), ast.unparse(cut.lower)))
        if begins & ends:
            return True
    return False


def _is_mixed(code: Code, module: Module, rows: ast.expr) -> bool:
    """Whether rows, or their numbers, were put into a random order."""
    return any(name.rpartition(".")[2] in _MIXES for name in code.made_by(module, rows))


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
