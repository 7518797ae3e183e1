"""Two ranks that part: the first collective in which they differ, or what DDP refused, as a script of two ranks."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from firstcause.errors import RecordError
from firstcause.minimize.ranks import UNFINISHED, parted
from firstcause.minimize.reproduce import reproduce
from firstcause.minimize.said import last_exception, plainly
from firstcause.record.folder import RunFolder
from firstcause.schema import Run


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


def test_rank_that_raised_by_itself_is_no_matter_of_collectives(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path))
    folder.begin(Run("run", ("python", "train.py"), str(tmp_path), "", "3.11", "linux"))
    for rank, calls in ((0, 2), (1, 1)):
        raised = [{"type": "ValueError", "message": "an odd rank"}] if rank else []
        facts = {
            "rank": rank,
            "world": 2,
            "calls": [
                {"seq": n, "group": "0", "op": "all_reduce", "sizes": [[2]], "time": n, "waiting": False}
                for n in range(calls)
            ],
            "ended": {"time": 9.0, "exception": raised},
            "time": 9.0,
        }
        place = tmp_path / "ranks" / str(rank)
        place.mkdir(parents=True)
        (place / "now.json").write_text(json.dumps(facts))
    with pytest.raises(RecordError, match="rank 1 failed first by itself, with ValueError"):
        reproduce(folder, None, 1.0)
