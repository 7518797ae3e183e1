"""A folder to work in, and the program that splits in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sealed_program import Split, run_split


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working directory of the program, with a few files in it."""
    work = tmp_path / "project"
    (work / "data" / "deep").mkdir(parents=True)
    (work / "a.txt").write_text("alpha\n")
    (work / "data" / "one").write_text("1")
    (work / "data" / "deep" / "two").write_text("2")
    return work


@pytest.fixture
def split(tmp_path: Path, folder: Path) -> Callable[..., Split]:
    return partial(run_split, tmp_path, folder)
