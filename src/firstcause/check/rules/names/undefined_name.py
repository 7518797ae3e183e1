"""A name is read that nothing binds, or that the file binds only further down.

Why: NameError, when the line is reached: often after the hours of training that come before it.
Refuted by: a star import, exec, a line that is never reached, a try that catches it, annotations, a binding in any scope
around, a notebook's own names.
Holds for: Python, all versions.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.imports import is_missing_import
from firstcause.check.rule import Example
from firstcause.check.scopes import early, scopes_of, unbound
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import COMPREHENSIONS, FUNCTIONS, Module

SLUG = "undefined-name"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        seen: set[tuple[str, str]] = set()
        for name in unbound(module):
            key = (name.id, module.qualified_name(name))
            if key in seen or _is_of_class(module, name) or is_missing_import(code, module, name):
                continue
            if _is_never_reached(module, name):
                continue
            seen.add(key)
            text = f"{name.id} is read here and bound nowhere" + _meant(module, name.id)
            yield finding(SLUG, CATEGORY, module, name, text, argument=name.id)
        for name, line in early(module):
            if (name.id, "") in seen:
                continue
            seen.add((name.id, ""))
            cell, inner = module.cell(line)
            where = f"line {inner} of cell {cell}" if cell else f"line {line}"
            text = f"{name.id} is read here and bound only at {where}"
            yield finding(SLUG, CATEGORY, module, name, text, argument=name.id)


def _is_of_class(module: Module, name: ast.Name) -> bool:
    """In the first iterable of a comprehension in a class body, which is evaluated in the class."""
    child: ast.AST = name
    for parent in module.ancestors(name):
        if isinstance(parent, COMPREHENSIONS):
            first = parent.generators[0].iter
            if child is not parent.generators[0] or not any(n is name for n in ast.walk(first)):
                return False
            holder = next(
                (p for p in module.ancestors(parent) if isinstance(p, (*FUNCTIONS, ast.ClassDef))), None
            )
            return isinstance(holder, ast.ClassDef) and name.id in scopes_of(module).bound.get(holder, ())
        child = parent
    return False


def _is_never_reached(module: Module, name: ast.Name) -> bool:
    """Behind a statement of the same block that always leaves it."""
    child: ast.AST = name
    for parent in module.ancestors(name):
        for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
            before = block[: block.index(child)] if isinstance(block, list) and child in block else []
            if any(_leaves(s) for s in before):
                return True
        child = parent
    return False


def _leaves(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func) in ("exit", "quit", "sys.exit", "os._exit")
    return isinstance(statement, (ast.Raise, ast.Return, ast.Continue, ast.Break))


def _meant(module: Module, name: str) -> str:
    known = {n.id for n in module.nodes(ast.Name)} | {a.arg for a in module.nodes(ast.arg)}
    close = difflib.get_close_matches(name, sorted(known - {name}), 1, 0.8)
    return f"; meant may be: {close[0]}" if close else ""


BAD = (
    Example("""
def train(loader, model):
    for batch in loader:
        loss = modle(batch)  # found
    return loss
"""),
    Example("""
data = reviews.map(len)  # found
reviews = [1, 2]
"""),
    Example("""
class Net:
    width = 4
    def forward(self):
        return [width for _ in range(2)]  # found
"""),
)
GOOD = (
    Example("""
class Formats:
    names = ("a", "b")
    keys = [f"x_{n}" for n in names]
    places = {n: i for i, n in enumerate(names)}

def stop():
    raise NotImplementedError
    return missing
"""),
    Example("""
from somewhere import *

print(anything)
"""),
    Example("""
def outer():
    def inner():
        return later
    later = 3
    return inner()

try:
    unicode
except NameError:
    unicode = str

def count():
    global total
    total = 1

def show(x: "Undefined") -> None:
    print(total, [y := x], y, __file__)
"""),
    Example("""
def use():
    return helper()

def helper():
    import os
    return [os.sep for part in "ab" if (n := part)], n

lambda *a, k=1, **kw: (a, k, kw)
match use():
    case [first, *rest]:
        print(first, rest)
    case {"a": one, **others} | (one, others):
        print(one, others)
    case other:
        print(other)
"""),
)
