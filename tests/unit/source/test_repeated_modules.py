"""The forms in which a program puts one module object at several places, and those that only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.fix.apply import apply_diff
from firstcause.fix.propose import propose
from firstcause.source import Project
from firstcause.source.repeated_modules import find_repeated

CAUSE = "accidentally-shared-parameters"
PROGRAM = """\
from itertools import repeat
from torch import nn


class Net(nn.Module):
    def __init__(self, n, norm=nn.GELU()):
        super().__init__()
        block = nn.Linear(8, 8)
        self.blocks = BLOCKS
"""
LINE = PROGRAM.splitlines().index("        self.blocks = BLOCKS") + 1


def written(folder: Path, blocks: str) -> Project:
    (folder / "train.py").write_text(PROGRAM.replace("BLOCKS", blocks))
    return Project(str(folder), [str(folder / "train.py")])


@pytest.mark.parametrize(
    ("blocks", "mended"),
    [
        pytest.param("[block] * n", "[nn.Linear(8, 8) for _ in range(n)]", id="multiplied"),
        pytest.param(
            "nn.ModuleList([block for _ in range(n)])",
            "nn.ModuleList([nn.Linear(8, 8) for _ in range(n)])",
            id="comprehension",
        ),
        pytest.param(
            "nn.Sequential(*(block for _ in range(n)))",
            "nn.Sequential(*(nn.Linear(8, 8) for _ in range(n)))",
            id="generator",
        ),
        pytest.param(
            "nn.ModuleDict({k: block for k in 'abc'})",
            "nn.ModuleDict({k: nn.Linear(8, 8) for k in 'abc'})",
            id="dictionary",
        ),
        pytest.param(
            "nn.ModuleList(repeat(block, n))",
            "nn.ModuleList([nn.Linear(8, 8) for _ in range(n)])",
            id="repeat",
        ),
        pytest.param(
            "nn.ModuleDict(dict.fromkeys({'a', 'b'}, block))",
            "nn.ModuleDict({key: nn.Linear(8, 8) for key in {'a', 'b'}})",
            id="one value of all keys",
        ),
        pytest.param(
            "nn.Sequential(block, nn.ReLU(), block, block)",
            "nn.Sequential(block, nn.ReLU(), nn.Linear(8, 8), nn.Linear(8, 8))",
            id="named again",
        ),
    ],
)
def test_each_place_builds_its_own(tmp_path: Path, blocks: str, mended: str) -> None:
    project = written(tmp_path, blocks)
    (found,) = find_repeated(project, "Linear")
    assert found.module.site(found.node).line == LINE
    fix = propose(CAUSE, {"class_name": "Linear"}, project, str(tmp_path))
    assert fix is not None
    apply_diff(fix.diff, str(tmp_path))
    assert f"self.blocks = {mended}\n" in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize(
    "blocks",
    [
        "nn.ModuleList([nn.Linear(8, 8) for _ in range(n)])",
        "nn.ModuleList([block for block in make(n)])",
        "nn.Sequential(block, nn.Linear(8, 8))",
    ],
    ids=["built each time", "drawn", "once"],
)
def test_what_is_built_for_each_place_is_not_repeated(tmp_path: Path, blocks: str) -> None:
    assert not find_repeated(written(tmp_path, blocks), "Linear")


def test_a_default_is_one_object_for_all_and_is_not_rewritten(tmp_path: Path) -> None:
    project = written(tmp_path, "nn.ModuleList()")
    (found,) = find_repeated(project, "GELU")
    assert found.node.lineno == PROGRAM.splitlines().index("    def __init__(self, n, norm=nn.GELU()):") + 1
    assert propose(CAUSE, {"class_name": "GELU"}, project, str(tmp_path)) is None


def test_what_is_said_to_be_shared_is_repeated_for_those_that_know_better(tmp_path: Path) -> None:
    project = written(tmp_path, "self.shared = [block] * n")

    assert not find_repeated(project, "Linear")
    assert len(find_repeated(project, "Linear", even_meant=True)) == 1
    fix = propose(CAUSE, {"class_name": "Linear", "even_meant": True}, project, str(tmp_path))
    assert fix is not None
    assert "[nn.Linear(8, 8) for _ in range(n)]" in fix.diff
