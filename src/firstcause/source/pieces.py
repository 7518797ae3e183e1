"""Pieces of a program whose result could be kept: a run of statements, a value that is returned, a whole function's body."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from firstcause.source import reads

# Methods that change what they are called on: the run must have made it.
CHANGING = frozenset(
    {"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear", "write"}
    | {"writerow", "discard", "popleft", "appendleft"}
)


@dataclass(frozen=True)
class Piece:
    """Where it stands: its first and last line and the column, and what it is: ``run``, ``value``, ``iter`` or ``body``."""

    line: int
    column: int
    last: int
    kind: str

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Piece:
        """The piece that facts name; facts of another kind name one that stands nowhere."""
        return cls(facts.get("line", 0), facts.get("column", -1), facts.get("last", 0), facts.get("kind", ""))


def pieces(tree: ast.Module, line: int) -> list[Piece]:
    """The pieces whose result a line takes part in, the smallest first."""
    found: list[Piece] = []
    for block, index in _blocks_at(tree, line):
        statement = block[index]
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            if isinstance(statement, ast.FunctionDef) and statement.lineno != line:
                found += _body(statement)
            continue
        if isinstance(statement, (ast.Return, ast.AugAssign)) and statement.value is not None:
            if not any(isinstance(n, (*reads.LEAVING, ast.NamedExpr)) for n in ast.walk(statement.value)):
                found.append(_piece([statement], "value"))
        elif isinstance(statement, ast.For) and line == statement.lineno:
            found.append(_piece([statement], "iter"))
        start = index
        while start >= 0:
            run = block[start : index + 1]
            if not _may_be_kept(run):
                break
            missing = _changed(run) - set(reads.outputs(run))
            if not missing:
                found.append(_piece(run, "run"))
                whole = _furnished(block, start, index)
                found += [_piece(whole, "run")] if len(whole) > len(run) else []
                break
            start = next(
                (i for i in range(start - 1, -1, -1) if missing & set(reads.outputs([block[i]]))), -1
            )
    return list(dict.fromkeys(found))


def located(tree: ast.Module, piece: Piece) -> tuple[list[ast.stmt], int, int] | None:
    """The block in which a piece stands, and the first and last index of its statements."""
    for node in ast.walk(tree):
        for block in _blocks(node):
            for i, statement in enumerate(block):
                if (statement.lineno, statement.col_offset) != (piece.line, piece.column):
                    continue
                if (piece.kind == "body") != isinstance(statement, ast.FunctionDef):
                    continue
                for j in range(i, len(block)):
                    if (block[j].end_lineno or block[j].lineno) == piece.last:
                        return block, i, j
    return None


def taken(statements: list[ast.stmt], kind: str) -> list[str]:
    """The names on which the result of a piece depends."""
    first = statements[0]
    if kind == "value":
        assert isinstance(first, (ast.Return, ast.AugAssign))
        assert first.value is not None
        return reads.inputs([first.value])
    if kind == "iter":
        assert isinstance(first, ast.For)
        return reads.inputs([first.iter])
    if kind == "body":
        assert isinstance(first, ast.FunctionDef)
        given = [a.arg for a in (*first.args.posonlyargs, *first.args.args, *first.args.kwonlyargs)]
        return list(dict.fromkeys([*given, *(n for n in reads.inputs(first.body) if n not in given)]))
    return reads.inputs(statements)


def _furnished(block: list[ast.stmt], first: int, last: int) -> list[ast.stmt]:
    """The run with the calls behind it that go on with what it made: ``model.load_state_dict(…)``, ``model.eval()``."""
    made = set(reads.outputs(block[first : last + 1]))
    while last + 1 < len(block):
        following = block[last + 1]
        call = following.value if isinstance(following, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            break
        if reads.root_name(call.func.value) not in made or reads.leaves([following]):
            break
        last += 1
    return block[first : last + 1]


def _piece(run: list[ast.stmt], kind: str) -> Piece:
    return Piece(run[0].lineno, run[0].col_offset, run[-1].end_lineno or run[-1].lineno, kind)


def _body(function: ast.FunctionDef) -> Iterator[Piece]:
    """A function that ends in its only return, and changes nothing that it has not made."""
    block, rest = function.body, function.body[:-1]
    while isinstance(block[-1], ast.With):
        # A file that is read and whose content is returned from within its block.
        block = block[-1].body
        rest = [*rest, *block[:-1]]
    last = block[-1]
    if not isinstance(last, ast.Return) or last.value is None or reads.leaves(rest):
        return
    if function.args.vararg or function.args.kwarg or function.name == "forward":
        return
    if _changed(rest) - set(reads.outputs(rest)):
        return
    yield _piece([function], "body")


def _may_be_kept(run: list[ast.stmt]) -> bool:
    kinds = (
        ast.Assign,
        ast.AnnAssign,
        ast.With,
        ast.For,
        ast.While,
        ast.If,
        ast.Try,
        ast.AugAssign,
        ast.Expr,
    )
    return all(isinstance(s, kinds) for s in run) and bool(reads.outputs(run)) and not reads.leaves(run)


def _changed(run: list[ast.stmt]) -> set[str]:
    """The names of what the statements change in place by a method; what they change otherwise leaves the run."""
    methods = [
        n.func
        for statement in run
        for n in reads.walked(statement)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    ]
    roots = (reads.root_name(m.value) for m in methods if m.attr in CHANGING or m.attr.endswith("_"))
    return {root for root in roots if root is not None}


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    held = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [b for b in held if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]


def _blocks_at(tree: ast.AST, line: int) -> list[tuple[list[ast.stmt], int]]:
    """The statements that hold a line, each as its block and its place in it, innermost first."""
    found: list[tuple[list[ast.stmt], int]] = []
    for node in ast.walk(tree):
        for block in _blocks(node):
            for i, statement in enumerate(block):
                first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
                if first <= line <= (statement.end_lineno or statement.lineno):
                    found.append((block, i))
    return sorted(found, key=lambda f: -f[0][f[1]].col_offset)
