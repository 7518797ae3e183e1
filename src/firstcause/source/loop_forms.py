"""One loop over elements as loops that end in one accumulation each: what skips, chooses and cuts short is a condition."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
SIMPLE = (ast.Assign, ast.AnnAssign)


def parted(loop: ast.For) -> list[ast.For]:
    """A loop of each accumulation in a nest of loops; the loop alone where nothing is to be parted.

    ``if c: continue`` and ``range(i + 1, n)`` become conditions around what follows, names that are set before an
    accumulation stay before it, and no accumulation may read what another one adds up.
    """
    found = [f for f in _parted(copy.deepcopy(loop)) if f is not None]
    sums = [_sum_of(f) for f in found]
    reads = [{n.id for n in ast.walk(f) if isinstance(n, ast.Name)} for f in found]
    apart = all(one not in of for k, one in enumerate(sums) if one for j, of in enumerate(reads) if j != k)
    return found if found and apart and all(sums) else [loop]


def _parted(loop: ast.For) -> list[ast.For | None]:
    if loop.orelse:
        return [None]
    test = _start(loop)
    return [
        ast.fix_missing_locations(ast.For(loop.target, loop.iter, [*before, last], [], None))
        for before, last in _ends(loop.body, test)
    ]


def _start(loop: ast.For) -> ast.expr | None:
    """``range(a, n)`` becomes ``range(n)``, under the condition that the index has reached ``a``."""
    over = loop.iter
    is_cut = (
        isinstance(over, ast.Call)
        and isinstance(over.func, ast.Name)
        and over.func.id == "range"
        and len(over.args) == 2
        and isinstance(loop.target, ast.Name)
    )
    if not is_cut:
        return None
    assert isinstance(over, ast.Call)
    assert isinstance(loop.target, ast.Name)
    test = ast.Compare(ast.Name(loop.target.id, ast.Load()), [ast.GtE()], [over.args[0]])
    over.args = over.args[1:]
    return test


def _ends(body: Sequence[ast.stmt], test: ast.expr | None) -> list[tuple[list[ast.stmt], ast.stmt]]:
    """Each accumulation at the end of a body with the statements before it, under all the conditions around it."""
    before: list[ast.stmt] = []
    found: list[tuple[list[ast.stmt], ast.stmt]] = []
    for k, statement in enumerate(body):
        if isinstance(statement, SIMPLE) and not _is_sum(statement) and not found:
            before.append(statement)
        elif isinstance(statement, ast.If) and not statement.orelse:
            if len(statement.body) == 1 and isinstance(statement.body[0], ast.Continue):
                return found + [
                    ([*before, *b], s) for b, s in _ends(body[k + 1 :], _both(test, _turned(statement.test)))
                ]
            inner = _ends(statement.body, _both(test, statement.test))
            found += [([*before, *b], s) for b, s in inner]
        elif isinstance(statement, ast.For):
            found += [(list(before), _under(test, f)) for f in _parted(statement) if f is not None]
        else:
            found.append((list(before), _under(test, statement)))
    return found


def _under(test: ast.expr | None, statement: ast.stmt) -> ast.stmt:
    """The statement under a condition; of a loop, the one at its end."""
    if test is None:
        return statement
    if isinstance(statement, ast.For):
        return ast.For(
            statement.target,
            statement.iter,
            [*statement.body[:-1], _under(test, statement.body[-1])],
            [],
            None,
        )
    if isinstance(statement, ast.If):
        return ast.If(_both(test, statement.test), statement.body, [])
    return ast.If(_elementwise(test), [statement], [])


def _both(one: ast.expr | None, other: ast.expr) -> ast.expr:
    return _elementwise(ast.BoolOp(ast.And(), [one, other])) if one is not None else _elementwise(other)


def _turned(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in TURNED:
        return ast.Compare(test.left, [TURNED[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _elementwise(test: ast.expr) -> ast.expr:
    """``and``, ``or`` and ``not`` of single values, for many at once."""
    if isinstance(test, ast.BoolOp):
        sign = ast.BitAnd() if isinstance(test.op, ast.And) else ast.BitOr()
        made = _elementwise(test.values[0])
        for value in test.values[1:]:
            made = ast.BinOp(made, sign, _elementwise(value))
        return made
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        turned = _turned(test.operand)
        plain = isinstance(turned, ast.Compare)
        return turned if plain else ast.UnaryOp(ast.Invert(), _elementwise(test.operand))
    return test


def _is_sum(statement: ast.stmt) -> bool:
    """``total = total + value``, in which the name is read that is set."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and any(
        isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(statement.value)
    )


def _sum_of(loop: ast.For) -> str | None:
    """The name that the last statement of a nest adds up."""
    statement: ast.stmt = loop
    while isinstance(statement, (ast.For, ast.If)):
        statement = statement.body[-1]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return statement.targets[0].id if _is_sum(statement) else None  # type: ignore[attr-defined]
