from __future__ import annotations

import ast

import pytest

from firstcause.fix.edits import apply_edits
from firstcause.fix.rewrite import added_keyword, called, plus
from firstcause.source.flow import find
from firstcause.source.module import Module


def parsed(text):
    """The module without the marks, and the expression between « and »."""
    before, inside, after = text.replace("»", "«").split("«")
    module = Module("/x/train.py", "train.py", (before + inside + after).encode())
    node = find(module, before.count("\n") + 1, inside)
    assert node is not None
    return module, node


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = «x»\n", "y = x + 1\n"),
        ("y = «10»\n", "y = 11\n"),
        ("y = «10_000»\n", "y = 10_001\n"),
        ("f(«len(x)», 2)\n", "f(len(x) + 1, 2)\n"),
        ("y = «a - b»\n", "y = a - b + 1\n"),
        ("y = «a if b else c»\n", "y = (a if b else c) + 1\n"),
        ("y = («a if b else c»)\n", "y = (a if b else c) + 1\n"),
        ("y = («a if b else c»).z\n", "y = ((a if b else c) + 1).z\n"),
        ("y = «f(x)».z\n", "y = (f(x) + 1).z\n"),
        ("y = 2 * «x»\n", "y = 2 * (x + 1)\n"),
        ("y = a - «x»\n", "y = a - (x + 1)\n"),
        ("y = a + «x»\n", "y = a + x + 1\n"),
        ("y = -«x»\n", "y = -(x + 1)\n"),
        ("y = (\n    «x»\n)\n", "y = (\n    x + 1\n)\n"),
        ("y = «a | b»\n", "y = (a | b) + 1\n"),
        ("y = «x»[0]\n", "y = (x + 1)[0]\n"),
        ("y = z[«x»]\n", "y = z[x + 1]\n"),
        ("y = «é(x)»\n", "y = é(x) + 1\n"),
    ],
)
def test_one_is_added_to_the_value_and_not_to_a_part_of_it(text, expected):
    module, node = parsed(text)
    after = apply_edits(module.text, plus(module, node, 1))
    assert after == expected
    ast.parse(after)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = f(«x»)\n", "y = f(x.m())\n"),
        ("y = f(«a + b»)\n", "y = f((a + b).m())\n"),
        ("y = («a + b»).z()\n", "y = (a + b).m().z()\n"),
        ("y = a / («b + c»)\n", "y = a / (b + c).m()\n"),
        ("y = f(«-x»)\n", "y = f((-x).m())\n"),
        ("y = «x[0]» ** 2\n", "y = x[0].m() ** 2\n"),
    ],
)
def test_a_method_follows_the_whole_expression(text, expected):
    module, node = parsed(text)
    assert apply_edits(module.text, called(module, node, ".m()")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(a, b=1)", "f(a, b=1, s=2)"),
        ("f(a,)", "f(a, s=2,)"),
        ("f()", "f(s=2)"),
        ("f((a))", "f((a), s=2)"),
        ("f(((a)))", "f(((a)), s=2)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b, s=2,\n)"),
    ],
)
def test_a_keyword_is_added_after_the_last_argument(text, expected):
    module = Module("/x/train.py", "train.py", text.encode())
    call = module.tree.body[0].value
    after = apply_edits(module.text, [added_keyword(module, call, "s=2")])
    assert after.replace(" ", "") == expected.replace(" ", "")
    ast.parse(after)
