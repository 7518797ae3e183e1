"""The statement at which two ranks part, from the lines that each of them ran."""

from __future__ import annotations

import sys
import textwrap

import pytest

from firstcause.lab import rings
from firstcause.lab.ranked.lines import Lines
from firstcause.source.project import Project
from firstcause.specialists.branching import branch


def ways(tmp_path, text, calls):
    """The way of each rank through ``main(rank)``, and the stack of its last collective as ``calls`` gives its line."""
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(text))
    space: dict = {}
    found = []
    for rank in (0, 1):
        folder = tmp_path / str(rank)
        folder.mkdir()
        exec(compile(path.read_text(), str(path), "exec"), space)
        before = sys.gettrace()
        # A frame without any of the program's: only what is called from now on is followed.
        Lines(str(folder), sys._getframe())
        try:
            space["main"](rank)
        finally:
            sys.settrace(before)
        found.append(rings.read(str(folder)))
    stacks = [[{"file": str(path), "line": line, "function": name} for name, line in c] for c in calls]
    cut = [
        way.until(s[0]["file"], s[0]["function"], s[0]["line"]) if s else way
        for way, s in zip(found, stacks, strict=True)
    ]
    return branch(Project.of_script(str(path)), (0, 1), tuple(cut), tuple(stacks))


def test_a_branch_that_one_rank_takes_is_found_behind_harmless_ones(tmp_path):
    found = ways(
        tmp_path,
        """\
        def evaluate(n):
            return reduce(n)
        def reduce(n):
            return n
        def main(rank):
            for epoch in range(3):
                if rank == 0:
                    text = "logged"
                value = reduce(epoch)
            if rank == 0:
                value = evaluate(3)
            reduce(4)
        """,
        ([("evaluate", 2), ("main", 11)], [("main", 12)]),
    )
    assert (found.node.lineno, found.test, found.times, found.reached, found.is_loop) == (
        10,
        "rank == 0",
        {0: 1, 1: 0},
        11,
        False,
    )


def test_a_loop_that_one_rank_leaves_earlier_is_found(tmp_path):
    found = ways(
        tmp_path,
        """\
        def step(n):
            return n
        def main(rank):
            for epoch in range(1):
                for batch in range(5 - rank):
                    if batch % 2:
                        continue
                    step(batch)
            step(9)
        """,
        ([("main", 8)], []),
    )
    assert (found.node.lineno, found.is_loop, found.times) == (5, True, {0: 5, 1: 4})


def test_a_break_is_found_before_the_loop_that_it_ends(tmp_path):
    found = ways(
        tmp_path,
        """\
        def step(n):
            return n
        def main(rank):
            for epoch in range(6):
                step(epoch)
                if rank and epoch == 2:
                    break
            step(9)
        """,
        ([("main", 5)], [("main", 8)]),
    )
    assert (found.node.lineno, found.is_loop) == (6, False)


def test_a_way_out_of_a_function_is_found_in_it(tmp_path):
    found = ways(
        tmp_path,
        """\
        def report(rank):
            if rank != 0:
                return None
            return gather(rank)
        def gather(rank):
            return rank
        def main(rank):
            report(rank)
            gather(1)
        """,
        ([("report", 4), ("main", 8)], [("main", 9)]),
    )
    assert (found.node.lineno, found.reached) == (2, 0)


def test_ranks_that_run_the_same_lines_part_nowhere(tmp_path):
    text = """\
        def main(rank):
            for n in range(3):
                value = n + rank
        """
    assert ways(tmp_path, text, ([("main", 3)], [("main", 3)])) is None


@pytest.mark.parametrize("most", [8, 1 << 10])
def test_a_ring_that_ran_over_is_not_whole(tmp_path, monkeypatch, most):
    for module in (rings, sys.modules["firstcause.lab.ranked.lines"]):
        monkeypatch.setattr(module, "MOST_LINES", most)
    text = "def main(rank):\n    for n in range(20):\n        value = n\n"
    found = ways(tmp_path, text, ([("main", 3)], [("main", 3)]))
    assert found is None
    assert rings.read(str(tmp_path / "0")).whole == (most > 100)
