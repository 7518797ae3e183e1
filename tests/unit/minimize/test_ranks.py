"""Two ranks that part: the first collective in which they differ, or what DDP refused, as a script of two ranks."""

from __future__ import annotations

import ast
from typing import Any

from firstcause.minimize.ranks import UNFINISHED, parted
from firstcause.minimize.said import last_exception, plainly


def standing(*ops: tuple[str, list[int]], message: str = "") -> dict[str, Any]:
    calls = [{"seq": n, "op": op, "sizes": [size], "group": "0"} for n, (op, size) in enumerate(ops)]
    return {"calls": calls, "ended": {"exception": [{"message": message}]} if message else None}


def test_first_difference_is_kept_and_what_was_alike_is_not() -> None:
    same = ("all_reduce", [1602])
    found = parted([standing(same, same, ("all_reduce", [2])), standing(same, same, ("barrier", []))])
    assert found is not None
    assert found.script.count("dist.all_reduce") == 1
    assert "dist.all_reduce(torch.zeros(2))" in found.script
    assert "dist.barrier()" in found.script
    assert found.calls == 6
    ast.parse(found.script)


def test_rank_that_makes_one_less_passes() -> None:
    same = ("all_reduce", [4])
    found = parted([standing(same, same), standing(same)])
    assert found is not None
    assert "        pass\n" in found.script


def test_ranks_that_agree_give_nothing() -> None:
    same = ("all_reduce", [4])
    assert parted([standing(same), standing(same)]) is None


def test_refusal_of_ddp_is_repeated() -> None:
    found = parted(
        [standing(("broadcast", [3])), standing(("broadcast", [3]), message=f"{UNFINISHED} before")]
    )
    assert found is not None
    assert "DistributedDataParallel(Model())" in found.script
    assert found.refused.startswith(UNFINISHED)


def test_last_exception_is_the_innermost_traceback() -> None:
    text = 'Traceback (most recent call last):\n  File "a", line 1\nx.Spawned: \nTraceback (most recent call last):\n  File "b"\n    f()\n    ^^^\na.b.MyError: size 3\nand more\n'
    assert last_exception(text) == ("MyError", "size N and more", "a.b.MyError: size 3")
    assert last_exception("") == ("", "", "")
    assert plainly("sizes [3, 4] at 0x7f Hint: none") == "sizes [N] at N"
