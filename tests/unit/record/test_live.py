"""Names that a body reads before it writes them, and nothing that would become a new variable."""

from __future__ import annotations

import ast
import textwrap

import pytest

from firstcause.record.observe.live import bound_names, live_in


def names(source: str) -> list[str]:
    tree = ast.parse(textwrap.dedent(source))
    function = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    loop = next(n for n in ast.walk(function) if isinstance(n, (ast.For, ast.While)))
    return live_in(loop.body, bound_names(function))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(xs):\n for x in xs:\n  h = x + 1\n  y = h", ["x"]),
        ("def f(xs, h):\n for x in xs:\n  h = h + x", ["h", "x"]),
        ("def f(xs, total):\n for x in xs:\n  total += x", ["total", "x"]),
        # A global or builtin is no variable of this scope: assigning it would make it one.
        ("def f(xs):\n for x in xs:\n  print(model, x)", ["x"]),
        # The same name inside a comprehension is another variable.
        ("def f(xs):\n for x in xs:\n  y = [lr for lr in x]", ["x"]),
        ("def f(xs):\n for x in xs:\n  y = lr + sum(lr for lr in x)", ["x"]),
        # A walrus in a comprehension binds here.
        ("def f(xs, last):\n for x in xs:\n  y = [(last := v) for v in x]\n  print(last)", ["last", "x"]),
        # A branch may leave the name unwritten.
        ("def f(xs, h):\n for x in xs:\n  if x: h = 1\n  y = h", ["h", "x"]),
        ("def f(xs):\n global n\n for x in xs:\n  n = n + x", ["n", "x"]),
        # Read by a nested function that may be called here.
        ("def f(xs, h):\n for x in xs:\n  def g(): return h\n  h = g()", ["h"]),
        ("def f(xs, d):\n for x in xs:\n  del d[x]", ["d", "x"]),
        ("def f(xs, v):\n while True:\n  match v:\n   case [a, *b]: v = b", ["b", "v"]),
        ("def f(xs):\n for x in xs:\n  y: int = x\n  z = y", ["x"]),
        ("def f(xs):\n import os\n for x in xs:\n  os.sync()", []),
    ],
)
def test_live_in(source: str, expected: list[str]) -> None:
    assert names(source) == expected


def test_what_is_written_under_a_context_that_swallows_nothing_is_written() -> None:
    body = ast.parse(
        "with torch.autocast('cpu'), stream(s) as held:\n loss = model(x) + held\nloss.backward()\n"
    ).body
    assert live_in(body, {"loss", "x", "held", "s"}) == ["s", "x"]
    swallowed = ast.parse("with suppress(ValueError):\n loss = model(x)\nloss.backward()\n").body
    assert live_in(swallowed, {"loss", "x"}) == ["loss", "x"]
