"""Pieces of a program whose result could be kept, and loops over elements written otherwise."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest
import torch

from firstcause.source import pieces, reads
from firstcause.source.listed import listed
from firstcause.source.vectorised import together

READING = """
class Rows:
    def __getitem__(self, n):
        file, row = self.entries[n]
        rows = []
        with open(file) as f:
            for line in f:
                rows.append(float(line))
        return rows[row]
"""


def kinds(text: str, line: int) -> list[tuple[str, int, int]]:
    return [(p.kind, p.line, p.last) for p in pieces.pieces(ast.parse(text), line)]


def test_a_list_is_kept_with_the_statements_that_fill_it() -> None:
    assert ("run", 5, 8) in kinds(READING, 8)


@pytest.mark.parametrize(
    ("last", "is_kept"), [("return [float(x) for x in f]", True), ("f.write(path)", False)]
)
def test_a_function_that_returns_from_within_a_file_is_kept_as_a_whole(last: str, is_kept: bool) -> None:
    text = f"def table(path):\n    with open(path) as f:\n        {last}\n"
    assert (("body", 1, 3) in kinds(text, 3)) is is_kept


def test_an_object_is_kept_as_it_was_furnished() -> None:
    text = (
        "def step(weights, x):\n    net = Net()\n    net.load(weights)\n    net.eval()\n    return net(x)\n"
    )
    assert [k for k in kinds(text, 2) if k[0] == "run"] == [("run", 2, 2), ("run", 2, 4)]


def test_what_a_run_reads_and_binds() -> None:
    run = ast.parse(READING).body[0].body[0].body[1:3]  # type: ignore[attr-defined]
    assert reads.inputs(run) == ["file"]
    assert reads.outputs(run) == ["rows", "line"]


def test_what_was_raised_is_nothing_that_a_run_takes() -> None:
    text = "try:\n    row = load(path)\nexcept errors as error:\n    row = str(error)\nrow = (row, error)"
    assert reads.inputs(ast.parse(text).body[:1]) == ["load", "path", "errors"]
    assert reads.inputs(ast.parse(text).body) == ["load", "path", "errors", "error"]


@pytest.mark.parametrize(
    "statement",
    [
        "self.rows = load(path)",
        "out.append(load(path))",
        "x = yield load(path)",
        "global x\n        x = load(path)",
    ],
)
def test_what_changes_something_else_is_no_piece(statement: str) -> None:
    text = f"class A:\n    def read(self, path, out):\n        {statement}\n        return 1\n"
    assert [k for k in kinds(text, 3) if k[0] == "run"] == []


def run(text: str, names: dict[str, Any]) -> dict[str, Any]:
    space = dict(names, torch=torch)
    exec(textwrap.dedent(text), space)  # a loop of the tests' own
    return space


LOOPS = {
    "total": "for i in range(len(x)):\n    d = x[i] - y[i]\n    total = total + (d * d).sum()",
    "square": "for i in range(n):\n    for j in range(n):\n        out[i, j] = ((x[i] - y[j]) ** 2).sum()",
    "turned": "for i in range(n):\n    for j in range(n):\n        out[j, i] = (x[i] * y[j]).sum()",
    "where": "for i in range(n):\n    for j in range(n):\n        if i != j:\n            total += torch.relu(x[i] - y[j]).sum()",
    "counted": "for i in range(n):\n    for j in range(n):\n        if x[i, 0] > y[j, 0]:\n            d = (x[i] - y[j]).abs().sum()\n            total = total + d\n            count += 1",
    "skipped": "for i in range(n):\n    for j in range(n):\n        if i == j or x[i, 1] < 0:\n            continue\n        total += (x[i] * y[j]).sum()\n        count += 2",
    "triangle": "for i in range(n):\n    for j in range(i + 1, n):\n        total += (x[i] - x[j]).abs().sum()",
    "nested": "for i in range(n):\n    if x[i, 0] > 0:\n        for j in range(n):\n            if not x[j, 1] > 0:\n                total += (x[i] - y[j]).sum()",
    "inner": "for i in range(n):\n    s = torch.zeros(())\n    for j in range(3):\n        s = s + x[i, j] * w[j]\n    found.append(s)",
    "zip": "for a, b in zip(x, y):\n    found.append((a - b).abs().mean())",
    "list": "total = torch.stack([(a * b).sum() for a, b in zip(x, y)]).mean()",
}


@pytest.mark.parametrize("name", LOOPS)
def test_all_elements_at_once_give_what_the_loop_gives(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(6, 3, generator=generator), torch.randn(6, 3, generator=generator)

    def names() -> dict[str, Any]:
        out = torch.zeros(6, 6)
        return {
            "x": x,
            "y": y,
            "w": y[0],
            "n": 6,
            "total": torch.zeros(()),
            "count": 0,
            "out": out,
            "found": [],
        }

    text = together(ast.parse(LOOPS[name]).body[0])
    assert text is not None
    assert "vmap" in text
    plain, made = run(LOOPS[name], names()), run(text, names())
    torch.testing.assert_close(made["total"], plain["total"])
    assert float(made["count"]) == plain["count"]
    torch.testing.assert_close(made["out"], plain["out"])
    torch.testing.assert_close(list(made["found"]), plain["found"])


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(1, n):\n    x[i] = x[i - 1] * 2",
        "for i in range(n):\n    total = total + x[i + 1]",
        "while n:\n    n = n - 1",
        "for i in range(n):\n    h = cell(x[i], h)\n    print(h)",
        "for i in range(n):\n    total += x[i].sum()\n    other = other + total",
        "for i in range(n):\n    if x[i, 0] > 0:\n        break\n    total += x[i].sum()",
    ],
)
def test_a_loop_of_another_form_stays(loop: str) -> None:
    assert together(ast.parse(loop).body[0]) is None


def test_single_elements_are_read_from_lists() -> None:
    text = (
        "for i in range(len(x)):\n    for j in range(3):\n        if x[i, j].item() > 0 and int(k[i]) != 1:\n"
        "            count += float(x[i][j])"
    )
    loop = ast.parse(text).body[0]
    assert isinstance(loop, ast.For)
    made = listed(loop)
    assert made is not None
    names = {"x": torch.arange(-6.0, 6.0).reshape(4, 3), "k": torch.tensor([0, 1, 2, 3])}
    written = "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in made)
    assert run(written, names | {"count": 0.0})["count"] == run(text, names | {"count": 0.0})["count"]
    assert ".item()" not in written


def test_what_a_loop_writes_is_not_read_from_a_list() -> None:
    loop = ast.parse("for i in range(n):\n    x[i] = float(x[i]) + 1").body[0]
    assert isinstance(loop, ast.For)
    assert listed(loop) is None
