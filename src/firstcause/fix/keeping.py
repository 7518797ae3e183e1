"""A result is computed once and kept: above the loop, in the object, beside the function, or by ``functools.lru_cache``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from firstcause.fix.additions import imported
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.fix.statements import margin, newline_of, starts_line
from firstcause.source import Module, reads
from firstcause.source import pieces as places
from firstcause.source.feeds import LOOPS

CACHE = "functools.lru_cache"


def edits(module: Module, facts: Facts) -> tuple[list[Edit], str] | None:
    """The edits that keep a piece's result, and where it is kept in words; None where the code does not allow one."""
    piece = places.Piece.of(facts)
    found = places.located(module.tree, piece)
    if found is None:
        return None
    block, first, last = found
    run = block[first : last + 1]
    if not starts_line(module, run[0]):
        return None
    if piece.kind == "body":
        return _cached(module, run[0], facts)
    return _hoisted_piece(module, run, facts) or _kept(module, run, piece.kind, facts)


# ------------------------------------------------------------------ above the loop


def _hoisted_piece(module: Module, run: list[ast.stmt], facts: Facts) -> tuple[list[Edit], str] | None:
    if facts["kind"] != "run" or any(i["values"] > 1 for i in facts["inputs"]):
        return None
    return hoisted(module, run)


def hoisted(module: Module, run: list[ast.stmt]) -> tuple[list[Edit], str] | None:
    """Moved above the outermost loop of its function in which nothing that it takes is bound; None without such a loop."""
    names = set(places.taken(run, "run"))
    loop: ast.stmt | None = None
    for around in module.ancestors(run[0]):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        if isinstance(around, LOOPS):
            others = [s for s in around.body if s not in run]
            target = [around.target] if isinstance(around, ast.For) else []
            bound = {
                n
                for part in others
                for n in reads.outputs([s for s in ast.walk(part) if isinstance(s, ast.stmt)])
            }
            bound |= {n.id for t in target for n in ast.walk(t) if isinstance(n, ast.Name)}
            if names & bound or set(reads.outputs(run)) & bound:
                break
            loop = around
        elif isinstance(around, (ast.If, ast.Try)) and loop is None:
            # It may not run at all.
            return None
    if loop is None or not starts_line(module, loop):
        return None
    if all(s in run for s in getattr(module.parents[run[0]], "body", [])):
        # Nothing would be left in the block.
        return None
    put = Edit(module.path, (loop.lineno, 0), (loop.lineno, 0), lines_of(module, run, margin(module, loop)))
    out = Edit(module.path, (run[0].lineno, 0), _end(run), "")
    return [put, out], f"above the loop at line {loop.lineno}"


# ------------------------------------------------------------------ in the object, or beside the function


def _kept(module: Module, run: list[ast.stmt], kind: str, facts: Facts) -> tuple[list[Edit], str] | None:
    """A dict of results by the inputs that vary, as an attribute of ``self`` or a name of the module."""
    statement = run[-1]
    function = module.function(run[0])
    if not isinstance(function, ast.FunctionDef):
        return None
    outputs = _used(function, run) if kind == "run" else []
    if kind == "run" and not outputs:
        return None
    local = set(reads.outputs(function.body)) | {
        a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)
    }
    own = _own_object(module, function)
    varying = [i for i in facts["inputs"] if i["name"] in local and not (own and i["name"] == own[0])]
    keys = [i["name"] for i in varying if i["values"] > 1 or i["simple"]]
    if any(not i["simple"] for i in varying if i["values"] > 1):
        return None
    base = f"{(outputs or [function.name])[0].strip('_')}_kept"
    name = base if base not in module.text else f"{base}_once"
    holder = f"{own[0]}.{name}" if own else f"_{name}"
    key = keys[0] if len(keys) == 1 else f"({', '.join(keys)})" if keys else "()"
    slot = f"{holder}[{key}]"
    indent = margin(module, run[0])
    newline = newline_of(module)
    value = _value(run, kind)
    made: list[str] = [f"{indent}if {key} not in {holder}:"]
    if value is not None:
        text = module.segment(value)
        made.append(f"{indent}    {slot} = {text}")
    else:
        made.append(lines_of(module, run, indent + "    ").rstrip("\r\n"))
        made.append(f"{indent}    {slot} = {', '.join(outputs)}")
    if kind == "run":
        if value is not None and isinstance(statement, ast.Assign):
            made.append(f"{indent}{' = '.join(module.segment(t) for t in statement.targets)} = {slot}")
        else:
            made.append(f"{indent}{', '.join(outputs)} = {slot}")
        edit = Edit(module.path, (run[0].lineno, 0), _end(run), newline.join(made) + newline)
        changed = [edit]
    else:
        assert value is not None
        before = Edit(module.path, (run[0].lineno, 0), (run[0].lineno, 0), newline.join(made) + newline)
        start, end = module.position(module.span(value)[0]), module.position(module.span(value)[1])
        changed = [before, Edit(module.path, start, end, slot)]
    held = _held_by(module, function, own, f"{holder} = {{}}")
    return ([held, *changed], f"in `{holder}`") if held is not None else None


def _used(function: ast.FunctionDef, run: list[ast.stmt]) -> list[str]:
    """What a run binds and the rest of its function reads."""
    own = {id(n) for s in run for n in ast.walk(s)}
    read = {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in own
    }
    return [name for name in reads.outputs(run) if name in read]


def _value(run: list[ast.stmt], kind: str) -> ast.expr | None:
    """The one expression that a piece computes; None where it is more than one statement."""
    statement: Any = run[-1]
    if kind == "iter":
        held: ast.expr = statement.iter
        return held
    if kind == "value" or (len(run) == 1 and isinstance(statement, (ast.Assign, ast.AnnAssign))):
        value: ast.expr | None = statement.value
        return value
    return None


def _own_object(module: Module, function: ast.FunctionDef) -> tuple[str, ast.FunctionDef] | None:
    """The name of ``self`` and the class's ``__init__``, where the piece reads an object that stays the same."""
    around = module.parents.get(function)
    if not isinstance(around, ast.ClassDef) or not function.args.args or function.decorator_list:
        return None
    name = function.args.args[0].arg
    init = next((s for s in around.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    return (name, init) if init is not None and init is not function and init.args.args else None


def _held_by(
    module: Module, function: ast.FunctionDef, own: tuple[str, ast.FunctionDef] | None, text: str
) -> Edit | None:
    """The statement that makes the dict: first in ``__init__`` (behind ``super().__init__``), or before the definition."""
    newline = newline_of(module)
    if own is not None:
        name, init = own
        text = init.args.args[0].arg + text[len(name) :]
        first = init.body[0]
        if not starts_line(module, first):
            return None
        is_super = isinstance(first, ast.Expr) and "__init__" in module.segment(first)
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        line = (first.end_lineno or first.lineno) + 1 if is_super or is_text else first.lineno
        if (is_super or is_text) and len(init.body) > 1:
            line = init.body[1].lineno
        return Edit(module.path, (line, 0), (line, 0), f"{margin(module, first)}{text}{newline}")
    outermost = [
        a for a in module.ancestors(function.body[0]) if isinstance(a, (ast.FunctionDef, ast.ClassDef))
    ][-1]
    line = min([outermost.lineno, *(d.lineno for d in outermost.decorator_list)])
    return Edit(module.path, (line, 0), (line, 0), f"{text}{newline}{newline}{newline}")


# ------------------------------------------------------------------ the whole function


def _cached(module: Module, function: ast.stmt, facts: Facts) -> tuple[list[Edit], str] | None:
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    given = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    is_method = isinstance(module.parents.get(function), ast.ClassDef)
    asked = [i for i in facts["inputs"] if i["name"] in given]
    if any(not i["simple"] for i in (asked[1:] if is_method else asked)):
        return None
    newline, indent = newline_of(module), margin(module, function)
    edit = Edit(
        module.path, (function.lineno, 0), (function.lineno, 0), f"{indent}@{CACHE}(maxsize=None){newline}"
    )
    return [*imported(module, "functools"), edit], f"by `{CACHE}`"


# ------------------------------------------------------------------ text


def _end(run: Sequence[ast.stmt]) -> tuple[int, int]:
    return (run[-1].end_lineno or run[-1].lineno) + 1, 0


def lines_of(module: Module, run: Sequence[ast.stmt], indent: str) -> str:
    """The lines of a run at another depth."""
    first = run[0].lineno
    own = margin(module, run[0])
    text = module.lines[first - 1 : _end(run)[0] - 1]
    return "".join(indent + line[len(own) :] if line.strip() else line for line in text)
