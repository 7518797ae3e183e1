"""The loop that takes the most of the steps' time is tried, in whichever file and around whichever of its lines that goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from firstcause.source.project import Project
from firstcause.specialists.performance_profiling import launch_bound, python_loop_over_elements

LOOP = """
import torch
def scale(x, w, out, bias):
    for i in range(len(x)):
        out[i] = x[i] * w[i]
"""
LONGER = """
import torch
def scale(x, w, out, bias):
    for i in range(len(x)):
        out[i] = (x[i] *
                  w[i])
"""
BY_SAMPLE = """
import torch
def outputs(model, xs):
    return torch.stack([model(x) for x in xs])
def train(model, xs, optimizer):
    for x in xs:
        model(x).sum().backward()
"""


def examine(folder: Path, texts: dict[str, str], lines: list[tuple[str, int, int]], called: int) -> Any:
    """Steps that were measured: of each line of a file, how often it was met."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    stacks = [
        {"count": count, "frames": [[str(folder / name), line, "f"]], "called": called, "part": "other"}
        for name, line, count in lines
    ]
    known: dict[str, Any] = {"pace": {"stacks": stacks}, "watched pieces": []}

    def once(key: str, work: Callable[[], Any]) -> Any:
        if key not in known:
            known[key] = work()
        return known[key]

    return SimpleNamespace(
        project=Project(str(folder), [str(folder / name) for name in texts]),
        symptom=SimpleNamespace(kind="invariant"),
        lab=object(),
        once=once,
    )


def test_the_loop_with_the_most_time_is_found_beside_one_at_the_same_line_of_another_file(
    tmp_path: Path,
) -> None:
    lines = [("one.py", 5, 38), ("two.py", 5, 32), ("two.py", 6, 30)]
    found = python_loop_over_elements.found(
        examine(tmp_path, {"one.py": LOOP, "two.py": LONGER}, lines, called=-1)
    )
    assert found["file"] == str(tmp_path / "two.py")
    assert (found["line"], found["last"], found["share"]) == (4, 6, 0.62)
    assert "together" in found["ways"]


def test_samples_that_pass_a_model_one_by_one_are_told_from_a_training(tmp_path: Path) -> None:
    def told(line: int) -> str | None:
        one = examine(tmp_path, {"train.py": BY_SAMPLE}, [("train.py", line, 100)], called=0)
        return launch_bound.seen(None, one)  # type: ignore[arg-type]

    assert "100 % of the steps' time" in str(told(4))
    assert told(7) is None
