"""A rewritten program, and what is seen of its pieces: the same inputs, the same results."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from firstcause.lab import kept_results, rewriting
from firstcause.source.pieces import Piece, pieces

PROGRAM = """
calls = []

class Rows:
    def __init__(self, folder):
        self.folder = folder

    def load(self, name):
        calls.append(name)
        return [ord(c) * 1.5 for c in name]

    def row(self, name, k):
        rows = self.load(name)
        return rows[k]

    def table(self, n):
        made = torch.zeros(n)
        for i in range(n):
            made[i] = i
        return made

    def drawn(self, n):
        values = [random.random() for _ in range(n)]
        return values
"""


@pytest.fixture(autouse=True)
def nothing_seen() -> Iterator[None]:
    kept_results.PIECES.clear()
    yield
    kept_results.PIECES.clear()


def rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: Piece, how: str, **more: Any
) -> dict[str, Any]:
    path, plan = tmp_path / "train.py", tmp_path / "plan.json"
    path.write_text(PROGRAM)
    plan.write_text(json.dumps([{"file": str(path), **piece.plain(), "number": 0, "how": how, **more}]))
    monkeypatch.setenv(rewriting.STATEMENTS, str(plan))
    tree = ast.parse(PROGRAM)
    assert rewriting.rewrite(tree, str(path))
    space: dict[str, Any] = {"torch": torch, "random": random}
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), space)
    return space


def piece_at(line: int, kind: str) -> Piece:
    return next(p for p in pieces(ast.parse(PROGRAM), line) if p.kind == kind)


def test_repeats_are_counted_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = rewritten(tmp_path, monkeypatch, piece_at(13, "run"), "watch")
    rows = space["Rows"]("x")
    assert [rows.row("ab", 0), rows.row("ab", 1), rows.row("cd", 0)] == [145.5, 147.0, 148.5]
    seen = kept_results.PIECES[0].facts()
    assert (seen["calls"], seen["repeats"], seen["distinct"], seen["unequal"]) == (3, 1, 2, 0)
    assert seen["columns"] == [1, 2]
    assert seen["simple"] == [False, True]


def test_a_kept_result_is_computed_once_for_each_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = rewritten(tmp_path, monkeypatch, piece_at(13, "run"), "keep")
    rows = space["Rows"]("x")
    assert [rows.row(n, 0) for n in ("ab", "cd", "ab", "ab")] == [145.5, 148.5, 145.5, 145.5]
    assert space["calls"] == ["ab", "cd"]


@pytest.mark.parametrize("how", ["watch", "keep"])
def test_a_whole_function_gives_what_it_gave(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = rewritten(tmp_path, monkeypatch, piece_at(19, "body"), how)
    rows = space["Rows"]("x")
    for n in (3, 3, 4):
        assert rows.table(n).tolist() == list(range(n))
    seen = kept_results.PIECES[0].facts()
    assert (seen["repeats"], seen["unequal"]) == (1, 0)


def test_what_is_drawn_anew_is_not_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = rewritten(tmp_path, monkeypatch, piece_at(23, "run"), "watch")
    rows = space["Rows"]("x")
    for _ in range(4):
        rows.drawn(2)
    seen = kept_results.PIECES[0].facts()
    assert (seen["repeats"], seen["unequal"]) == (3, 3)


def test_what_is_run_seldom_keeps_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = rewritten(tmp_path, monkeypatch, Piece(18, 8, 19, "run"), "seldom")
    assert {18, 19} <= {line for _, _, line in space["Rows"].table.__code__.co_lines()}
    rows = space["Rows"]("x")
    assert [float(rows.table(3).sum()) for _ in range(2)] == [3.0, 0.0]


def test_equal_tensors_have_one_digest_and_graphs_none() -> None:
    one, other = torch.arange(4.0), torch.arange(4.0).clone()
    assert kept_results.digest((one, "a")) == kept_results.digest((other, "a"))
    assert kept_results.digest(one) != kept_results.digest(one + 1)
    assert kept_results.digest(one.requires_grad_() * 2) is None


@pytest.mark.parametrize("kind", ["run", "body"])
def test_what_a_piece_draws_moves_no_random_number_of_the_rest_where_it_is_put_apart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = {}
    for how in ("watch", "keep"):
        kept_results.PIECES.clear()
        space = rewritten(tmp_path, monkeypatch, piece_at(23, kind), how, apart=True)
        rows = space["Rows"]("x")
        random.seed(5)
        drawn = [rows.drawn(2) for _ in range(3)]
        after[how] = random.random()
        assert drawn[0] == drawn[1] == drawn[2]
    random.seed(5)
    assert after == {"watch": (untouched := random.random()), "keep": untouched}
