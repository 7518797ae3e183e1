"""An experiment made in the program's text as it is compiled, its lines kept and the files untouched.

Each statement of a sealed process's plan is a piece of the program (``source/pieces``) and what is done with it: ``watch``
times it and compares what it takes and gives, ``keep`` computes it once for the same inputs, ``seldom`` runs it at one
time in many; the ways of ``source/otherwise`` are loops over elements made otherwise; ``instead`` is its ``text`` in place of
the statement, and ``patched`` its ``text`` in place of the whole file. ``apart`` beside ``watch`` or ``keep`` puts the
generators of random numbers back after the piece.
Standard library only: it runs before torch is imported.
"""

from __future__ import annotations

import ast
import json
import os
from typing import Any

from firstcause.source import pieces, reads
from firstcause.source.otherwise import WAYS, otherwise
from firstcause.source.pieces import Piece

STATEMENTS = "FIRSTCAUSE_STATEMENTS"
CALLS = {"watch": "watched", "keep": "kept"}
MEMORY = "__import__('firstcause.lab.kept_results', None, None, ['*'])"


def rewrite(tree: ast.Module, path: str) -> bool:
    """Change the statements of this file that the plan names; whether there were any."""
    with open(os.environ[STATEMENTS], encoding="utf-8") as file:
        plan: list[dict[str, Any]] = json.load(file)
    mine = [s for s in plan if os.path.realpath(s["file"]) == os.path.realpath(path)]
    whole = next((s for s in mine if s["how"] == "patched"), None)
    if whole is not None:
        tree.body = ast.parse(whole["text"]).body
        return True
    # What they take, before anything is put in that takes more.
    for one in mine:
        found = pieces.located(tree, Piece.of(one))
        one["names"] = pieces.taken(found[0][found[1] : found[2] + 1], one["kind"]) if found else []
    # The last first: what is put in before a statement moves those behind it.
    for number in sorted(range(len(mine)), key=lambda n: (-mine[n]["line"], mine[n]["kind"] == "body")):
        _change(tree, mine[number])
    return bool(mine)


def _change(tree: ast.Module, asked: dict[str, Any]) -> None:
    piece = Piece.of(asked)
    found = pieces.located(tree, piece)
    if found is None:
        return
    block, first, last = found
    run = block[first : last + 1]
    number, how = asked["number"], asked["how"]
    if how == "instead" or how in WAYS:
        text = asked["text"] if how == "instead" else otherwise(run[0], how)
        if text is not None:
            block[first : last + 1] = [_at(s, run[0]) for s in ast.parse(text).body]
        return
    if how == "seldom":
        (test,) = ast.parse(f"if {MEMORY}.turn({number}): pass").body
        assert isinstance(test, ast.If)
        test.body = run
        block[first : last + 1] = [_at(test, run[0], inside=run)]
        return
    names: list[str] = asked["names"]
    given = f"lambda: ({''.join(f'{n}, ' for n in names)})"
    apart = bool(asked.get("apart"))
    if piece.kind == "run":
        block[first : last + 1] = _run(run, number, how, f"{given}, {apart}")
    elif piece.kind == "body":
        assert isinstance(run[0], ast.FunctionDef)
        body = run[0].body
        whole = ast.parse(
            f"def __fc_body__():\n    pass\nreturn {MEMORY}.{CALLS[how]}({number}, {given}, __fc_body__, {apart})"
        )
        inner = whole.body[0]
        assert isinstance(inner, ast.FunctionDef)
        inner.body = body
        # Names that the body binds and also takes as arguments would be unbound in the inner function.
        stored = set(reads.outputs(body))
        inner.args.args = [ast.arg(n) for n in names if n in stored]
        inner.args.defaults = [ast.Name(n, ast.Load()) for n in names if n in stored]
        run[0].body = [_at(s, body[0], inside=body) for s in whole.body]
    else:
        holder: Any = run[0]
        field = "iter" if piece.kind == "iter" else "value"
        value = getattr(holder, field)
        call = ast.parse(f"{MEMORY}.{CALLS[how]}({number}, {given}, lambda: 0, {apart})", mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.args[2], ast.Lambda)
        call.args[2].body = value
        setattr(holder, field, _at(call, value, inside=[value]))


def _run(run: list[ast.stmt], number: int, how: str, given: str) -> list[ast.stmt]:
    names = "".join(f"{n}, " for n in reads.outputs(run))
    if how == "watch":
        begin = ast.parse(f"{MEMORY}.begin({number}, {given})").body
        end = ast.parse(f"{MEMORY}.end({number}, ({names}))").body
        return [*(_at(s, run[0]) for s in begin), *run, *(_at(s, run[-1]) for s in end)]
    (test,) = ast.parse(
        f"if {MEMORY}.has({number}, {given}): ({names}) = {MEMORY}.get({number})\nelse: pass"
    ).body
    assert isinstance(test, ast.If)
    put = ast.parse(f"{MEMORY}.put({number}, ({names}))").body
    test.orelse = [*run, *(_at(s, run[-1]) for s in put)]
    return [_at(test, run[0], inside=run)]


def _at(made: Any, like: ast.AST, inside: list[Any] | None = None) -> Any:
    """What was made, on the line of what stood there; what it holds of the program keeps its own."""
    own = {id(n) for held in inside or () for n in ast.walk(held)}
    for node in ast.walk(made):
        if id(node) in own or node is like:
            continue
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.ExceptHandler, ast.keyword)):
            ast.copy_location(node, like)
            if hasattr(node, "lineno"):
                node.end_lineno, node.end_col_offset = node.lineno, getattr(node, "col_offset", 0)
    return made
