"""Words of a command that name something in the program's folder, when it runs in a copy of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.lab.sealed import moved
from firstcause.sandbox.program_copy import copy_of


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    folder, copy = tmp_path / "program", tmp_path / "copy"
    (folder / "env" / "bin").mkdir(parents=True)
    (folder / "env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (folder / "env" / "bin" / "python").write_text("#!/bin/sh\n")
    (folder / "train.py").write_text("print(1)\n")
    copy_of(str(folder), str(copy))
    return folder, copy


def test_a_script_and_a_result_that_is_not_there_yet_are_those_of_the_copy(
    folders: tuple[Path, Path],
) -> None:
    folder, copy = folders
    for name in ("train.py", "out/model.pt"):
        assert moved(str(folder / name), str(folder), str(copy)) == str(copy / name)
    assert moved(str(folder), str(folder), str(copy)) == str(copy)


def test_a_python_of_an_environment_in_the_folder_stays_for_it_is_not_copied(
    folders: tuple[Path, Path],
) -> None:
    folder, copy = folders
    python = str(folder / "env" / "bin" / "python")
    assert not (copy / "env").exists()
    assert moved(python, str(folder), str(copy)) == python


def test_other_words_stay(folders: tuple[Path, Path]) -> None:
    folder, copy = folders
    assert [moved(w, str(folder), str(copy)) for w in ("--lr", "1e-3", "/usr/bin/env", "train.py")] == [
        "--lr",
        "1e-3",
        "/usr/bin/env",
        "train.py",
    ]
