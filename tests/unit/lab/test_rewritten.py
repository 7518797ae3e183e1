"""A statement that is made otherwise as its file is compiled: the lines around it stay where they were."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from firstcause.lab import rewriting, starts

PROGRAM = """def pairs(x, y, order):
    x = x[order]

    return x, y
"""


def instead(line: int, text: str, **other: Any) -> dict[str, Any]:
    at = {"line": line, "column": 4, "last": line, "kind": "run", "number": 0, "how": "instead"}
    return at | {"text": text} | other


def rewritten(folder: Path, monkeypatch: pytest.MonkeyPatch, *statements: dict[str, Any]) -> ast.Module:
    path = folder / "train.py"
    path.write_text(PROGRAM)
    plan = folder / "plan.json"
    plan.write_text(json.dumps([{"file": str(path)} | s for s in statements]))
    monkeypatch.setenv(rewriting.STATEMENTS, str(plan))
    tree = ast.parse(PROGRAM)
    assert rewriting.rewrite(tree, str(path))
    return tree


def test_the_text_stands_in_place_of_the_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = rewritten(tmp_path, monkeypatch, instead(2, "x = x[order]\ny = y[order]"))
    names: dict[str, Any] = {}
    exec(compile(tree, "train.py", "exec"), names)
    x, y = names["pairs"](torch.arange(3), torch.arange(3), torch.tensor([2, 0, 1]))
    assert torch.equal(x, y)


def test_what_is_returned_may_be_written_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = rewritten(
        tmp_path, monkeypatch, instead(2, "pass"), instead(4, "rows = order\nreturn x[rows], y[rows]")
    )
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [s.lineno for s in function.body] == [2, 4, 4]


def test_a_patched_file_stands_in_place_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def pairs(x, y, order):\n    return y, x\n"
    tree = rewritten(tmp_path, monkeypatch, {"how": "patched", "number": 0, "text": text})
    assert ast.dump(tree) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("relu", [True, False])
def test_a_fitting_start_keeps_the_size_of_what_passes_and_draws_nothing_of_the_program(relu: bool) -> None:
    torch.manual_seed(3)
    layers = [torch.nn.Linear(64, 64) for _ in range(8)]
    for layer in layers:
        torch.nn.init.normal_(layer.weight, std=1e-4)
    before = torch.random.get_rng_state()
    starts.begin_fitting(list(layers), relu)
    assert torch.equal(before, torch.random.get_rng_state())
    x = h = torch.randn(256, 64)
    for layer in layers:
        h = torch.relu(layer(h)) if relu else layer(h)
    assert 0.1 < float(h.detach().std() / x.std()) < 10
    assert all(float(layer.bias.detach().abs().max()) == 0 for layer in layers)
