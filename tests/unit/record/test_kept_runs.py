"""Which runs go and which stay: by number, by size, by health, by cases, and while they are recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstcause.errors import InputError, RecordError
from firstcause.record import kept_runs
from firstcause.record.folder import RunFolder
from firstcause.schema import Run, Symptom


def make(home: Path, name: str, failed: bool = False, size: int = 0) -> RunFolder:
    path = home / ".firstcause" / "runs" / name
    path.mkdir(parents=True)
    folder = RunFolder(str(path))
    symptoms = (Symptom("nan", "bad"),) if failed else ()
    folder.write_run(
        Run(name, ("python",), str(home), "2026-01-01", "3.11", "linux", 1.0, 0, symptoms=symptoms)
    )
    if size:
        (path / "filling").write_bytes(bytes(size))
    return folder


def make_case(home: Path, name: str, text: bytes) -> Path:
    path = home / ".firstcause" / "cases" / name
    path.mkdir(parents=True)
    (path / "history.jsonl").write_bytes(text)
    return path


def names(home: Path) -> list[str]:
    return sorted(os.listdir(home / ".firstcause" / "runs"))


def test_the_oldest_healthy_ones_go_first(tmp_path: Path) -> None:
    for name, failed in (("1", True), ("2", False), ("3", False), ("4", True), ("5", False)):
        make(tmp_path, name, failed)
    gone = kept_runs.make_room(str(tmp_path), runs=3, size=10**9)
    assert [one.id for one in gone] == ["2", "3"]
    gone = kept_runs.make_room(str(tmp_path), runs=1, size=10**9, newest="5")
    assert [one.id for one in gone] == ["1", "4"]
    assert names(tmp_path) == ["5"]


def test_size_counts_as_well_as_number(tmp_path: Path) -> None:
    for name in "123":
        make(tmp_path, name, size=10_000)
    assert [o.id for o in kept_runs.make_room(str(tmp_path), runs=9, size=25_000)] == ["1"]
    assert [o.id for o in kept_runs.make_room(str(tmp_path), runs=9, size=100, newest="3")] == ["2"]
    assert names(tmp_path) == ["3"]


@pytest.mark.parametrize("text", [b'{"run": "1"}\n', b"\xff\xfe damaged \x00 but names 1 in it"])
def test_a_run_that_a_case_points_to_stays(tmp_path: Path, text: bytes) -> None:
    make(tmp_path, "20260101-000000-a-1111")
    make(tmp_path, "20260102-000000-a-2222")
    make_case(tmp_path, "c", text.replace(b"1", b"20260101-000000-a-1111"))
    assert [o.id for o in kept_runs.make_room(str(tmp_path), runs=1, size=1)] == ["20260102-000000-a-2222"]
    (one,) = kept_runs.listed(str(tmp_path))
    assert one.cases == ("c",)
    with pytest.raises(InputError, match="case c points to it"):
        kept_runs.refuse_staying([one], force=False)
    kept_runs.refuse_staying([one], force=True)


def test_a_case_that_cannot_be_read_keeps_every_run(tmp_path: Path) -> None:
    make(tmp_path, "1")
    case = make_case(tmp_path, "c", b"")
    (case / "history.jsonl").unlink()
    (case / "history.jsonl").symlink_to("nowhere")
    assert kept_runs.make_room(str(tmp_path), runs=1, size=0) == []
    assert names(tmp_path) == ["1"]


def test_a_run_that_is_recorded_stays_whatever_is_forced(tmp_path: Path) -> None:
    folder = make(tmp_path, "1")
    make(tmp_path, "2")
    with folder.held():
        assert [o.id for o in kept_runs.make_room(str(tmp_path), runs=1, size=0)] == ["2"]
        (one,) = kept_runs.listed(str(tmp_path))
        with pytest.raises(InputError, match="still being recorded"):
            kept_runs.refuse_staying([one], force=True)
        with pytest.raises(RecordError):
            kept_runs.remove(one)
    kept_runs.remove(one)
    assert names(tmp_path) == []


def test_what_cannot_be_read_is_listed_and_can_be_removed(tmp_path: Path) -> None:
    folder = make(tmp_path, "1")
    Path(folder.file("run.json")).write_text("{")
    (one,) = kept_runs.listed(str(tmp_path))
    assert one.run is None
    assert "run.json" in one.problem
    kept_runs.remove(one)
    assert kept_runs.listed(str(tmp_path)) == []


def test_a_link_is_neither_followed_nor_counted(tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "weights").write_bytes(bytes(50_000))
    folder = make(tmp_path, "1")
    os.symlink(outside, folder.file("link"))
    os.symlink(outside, tmp_path / ".firstcause" / "runs" / "0")
    (one,) = kept_runs.listed(str(tmp_path))
    assert one.bytes < 10_000
    kept_runs.remove(one)
    assert (outside / "weights").stat().st_size == 50_000


def test_a_removal_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    make(tmp_path, "1")
    half = tmp_path / ".firstcause" / "runs" / f"{kept_runs.GOING}abcd"
    half.mkdir()
    (half / "state.pt").write_bytes(b"x")
    assert [one.id for one in kept_runs.listed(str(tmp_path))] == ["1"]
    kept_runs.make_room(str(tmp_path), 9, 10**9)
    assert names(tmp_path) == ["1"]


def test_names_are_ids_their_beginnings_or_last(tmp_path: Path) -> None:
    for name in ("aa1", "aa2", "b"):
        make(tmp_path, name)
    found = kept_runs.find(str(tmp_path), ["aa1", "last", "b"])
    assert [one.id for one in found] == ["aa1", "b"]
    with pytest.raises(RecordError, match="2 runs begin with 'aa'"):
        kept_runs.find(str(tmp_path), ["aa"])
    with pytest.raises(RecordError, match=r"no run '\.\./x'"):
        kept_runs.find(str(tmp_path), ["../x"])


ONE = st.tuples(st.booleans(), st.integers(0, 100), st.booleans())


@given(st.lists(ONE, max_size=12), st.integers(1, 6), st.integers(0, 400))
def test_what_is_left_fits_or_must_stay(kinds: list[tuple[bool, int, bool]], runs: int, size: int) -> None:
    known = [
        kept_runs.Listed(
            f"{i:02}",
            RunFolder("x"),
            bytes_,
            Run("", (), "", "", "", "", symptoms=(Symptom("nan", ""),) if failed else ()),
            False,
            ("c",) if stays else (),
        )
        for i, (failed, bytes_, stays) in enumerate(kinds)
    ]
    gone = kept_runs.surplus(known, runs, size)
    left = [one for one in known if one not in gone]
    assert not any(one.stays for one in gone)
    fits = len(left) <= runs and sum(one.bytes for one in left) <= size
    assert fits or all(one.stays for one in left)
    # No more than needed: with the last one back it would not fit.
    if gone:
        back = [*left, gone[-1]]
        assert len(back) > runs or sum(one.bytes for one in back) > size
    healthy_left = [one for one in left if one.healthy and not one.stays]
    assert not healthy_left or all(one.healthy for one in gone)
