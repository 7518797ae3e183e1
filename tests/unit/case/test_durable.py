"""What must be on the disk before the next step is taken, as a power cut would find it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from case.samples import diagnosis
from case.test_case import opened
from firstcause.case import close, open_case
from firstcause.case.history import HEAD, HISTORY, Writer


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """What is written, synced and renamed from here on: the act, the file's name, its size at that moment."""
    seen: list[tuple[str, str, int]] = []

    def watch(act: str, name_of: Callable[..., str]) -> None:
        real = getattr(os, act)

        def watched(*args: Any, **named: Any) -> Any:
            path = name_of(*args)
            seen.append((act, os.path.basename(path), os.path.getsize(path)))
            return real(*args, **named)

        monkeypatch.setattr(os, act, watched)

    for act in ("write", "pwrite", "fsync"):
        watch(act, lambda fd, *_: os.readlink(f"/proc/self/fd/{fd}"))
    watch("replace", lambda source, _: os.fspath(source))
    return seen


def test_line_is_on_the_disk_before_the_head_says_so(
    tmp_path: Path, steps: list[tuple[str, str, int]]
) -> None:
    with Writer(str(tmp_path)) as writer:
        assert [step[:2] for step in steps][-1] == ("fsync", tmp_path.name)
        for _ in range(2):
            steps.clear()
            writer.append("tick", {})
            assert [step[:2] for step in steps] == [
                ("write", HISTORY),
                ("fsync", HISTORY),
                ("pwrite", HEAD),
                ("fsync", HEAD),
            ]
            assert steps[1][2] == (tmp_path / HISTORY).stat().st_size
    steps.clear()
    with Writer(str(tmp_path)):
        # The names are there since the first time.
        assert ("fsync", tmp_path.name) not in [step[:2] for step in steps]


def test_torn_line_is_kept_on_the_disk_before_it_is_cut_off(
    tmp_path: Path, steps: list[tuple[str, str, int]]
) -> None:
    with Writer(str(tmp_path)) as writer:
        writer.append("tick", {})
    whole = (tmp_path / HISTORY).stat().st_size
    with (tmp_path / HISTORY).open("ab") as file:
        file.write(b"half a li")
    steps.clear()
    with Writer(str(tmp_path)):
        kept = f"torn-{whole}"
        assert steps[:4] == [
            ("pwrite", "lock", 0),
            ("write", kept, 0),
            ("fsync", kept, 9),
            ("fsync", HISTORY, whole),
        ]
        assert (tmp_path / kept).stat().st_mode & 0o777 == 0o600


def test_name_of_a_new_case_is_on_the_disk(root: str, steps: list[tuple[str, str, int]]) -> None:
    case = open_case(root, "r1", os.path.join(root, "runs", "r1"), diagnosis())
    synced = [name for act, name, _ in steps if act == "fsync"]
    assert synced[:3] == ["cases", case.id, HISTORY]


def test_retrospective_is_whole_before_it_has_its_name(root: str, steps: list[tuple[str, str, int]]) -> None:
    folder = opened(root)
    steps.clear()
    close(folder, "measure")
    at = next(i for i, step in enumerate(steps) if step[0] == "replace")
    size = os.path.getsize(folder.file("retrospective.md"))
    assert size > 100
    assert steps[at - 1 : at + 1] == [
        ("fsync", "retrospective.md.new", size),
        ("replace", "retrospective.md.new", size),
    ]
    assert steps[at + 1][:2] == ("fsync", folder.id)
