from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstcause.case.event import digest
from firstcause.case.history import HEAD, HISTORY, Writer, head_line, read
from firstcause.errors import RecordError

DATA = [{"text": "line\nbreak \u2028 \ud800 é"}, {}, {"values": [1.5, None, {"k": "v"}]}, {"n": 3}]


def filled(folder: Path) -> bytes:
    with Writer(str(folder)) as writer:
        for number, data in enumerate(DATA):
            event = writer.append(f"kind-{number}", data)
            assert (event.seq, event.data, writer.events[-1]) == (number, data, event)
    return (folder / HISTORY).read_bytes()


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    content = filled(tmp_path)
    reading = read(str(tmp_path))
    assert [event.data for event in reading.events] == DATA
    assert [event.seq for event in reading.events] == [0, 1, 2, 3]
    assert (reading.torn, reading.size, content.count(b"\n")) == (b"", len(content), 4)


def test_no_file_reads_as_empty(tmp_path: Path) -> None:
    assert read(str(tmp_path)).events == ()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 10**6))
def test_line_torn_at_any_byte_is_set_aside(tmp_path: Path, cut: int) -> None:
    folder = tmp_path / str(cut)
    folder.mkdir(exist_ok=True)
    for name in (HISTORY, HEAD):
        (folder / name).unlink(missing_ok=True)
    content = filled(folder)
    kept = content[: cut % (len(content) + 1)]
    (folder / HISTORY).write_bytes(kept)
    whole = kept.count(b"\n")
    if whole:
        last = digest(kept.split(b"\n")[whole - 1])
        (folder / HEAD).write_bytes(head_line(whole - 1, last))
    else:
        (folder / HEAD).unlink()
    torn = kept.rpartition(b"\n")[2]
    reading = read(str(folder))
    assert (len(reading.events), reading.torn) == (whole, torn)
    with Writer(str(folder)) as writer:
        writer.append("later", {})
    after = read(str(folder))
    assert [event.data for event in after.events[:whole]] == DATA[:whole]
    assert after.events[-1].event == "later"
    assert after.torn == b""
    if torn:
        assert (folder / f"torn-{len(kept) - len(torn)}").read_bytes() == torn
    recovered = [event.data["bytes"] for event in after.events if event.event == "recovered"]
    assert recovered == ([len(torn)] if torn and whole else [])


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(line=st.integers(0, 2), at=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_change_of_any_earlier_byte_is_noticed(tmp_path: Path, line: int, at: int, byte: int) -> None:
    for name in (HISTORY, HEAD):
        (tmp_path / name).unlink(missing_ok=True)
    lines = filled(tmp_path).split(b"\n")
    changed = bytearray(lines[line])
    at %= len(changed)
    if changed[at] == byte:
        byte ^= 1
    changed[at] = byte
    lines[line] = bytes(changed)
    (tmp_path / HISTORY).write_bytes(b"\n".join(lines))
    with pytest.raises(RecordError) as raised:
        read(str(tmp_path))
    assert raised.value.slug == "case-damaged"


def test_removed_and_swapped_lines_are_noticed(tmp_path: Path) -> None:
    a, b, c, d = filled(tmp_path).splitlines(keepends=True)
    for first, lines in ((2, [a, c, d]), (1, [b, c, d]), (2, [a, c, b, d]), (3, [a, b, b, c, d])):
        (tmp_path / HISTORY).write_bytes(b"".join(lines))
        with pytest.raises(RecordError, match=f"line {first}: does not follow from the line before"):
            read(str(tmp_path))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 10**6))
def test_acknowledged_line_that_is_cut_off_is_missed(tmp_path: Path, cut: int) -> None:
    for name in (HISTORY, HEAD):
        (tmp_path / name).unlink(missing_ok=True)
    content = filled(tmp_path)
    (tmp_path / HISTORY).write_bytes(content[: cut % len(content)])
    with pytest.raises(RecordError, match=r"line 4 was acknowledged: it was cut off") as raised:
        read(str(tmp_path))
    assert raised.value.slug == "case-damaged"
    with pytest.raises(RecordError, match="cut off"), Writer(str(tmp_path)):
        pass
    assert (tmp_path / HISTORY).read_bytes() == content[: cut % len(content)]


def test_history_that_is_written_anew_is_noticed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    filled(tmp_path)
    with Writer(str(other)) as writer:
        for number in range(4):
            writer.append(f"kind-{number}", {"forged": True})
    (tmp_path / HISTORY).write_bytes((other / HISTORY).read_bytes())
    with pytest.raises(RecordError, match="line 4 is not the one that was acknowledged"):
        read(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"0000000003", b"\xff" * 85, None])
def test_damaged_or_missing_head_loses_nothing(tmp_path: Path, content: bytes | None) -> None:
    filled(tmp_path)
    (tmp_path / HEAD).unlink()
    if content is not None:
        (tmp_path / HEAD).write_bytes(content)
    assert len(read(str(tmp_path)).events) == 4
    with Writer(str(tmp_path)) as writer:
        writer.append("later", {})
    line = (tmp_path / HISTORY).read_bytes().splitlines()[-1]
    assert (tmp_path / HEAD).read_bytes()[:85] == head_line(4, digest(line))
    assert len(read(str(tmp_path)).events) == 5


def test_flipped_bit_of_the_head_is_seen_as_damage_of_the_head(tmp_path: Path) -> None:
    filled(tmp_path)
    whole = (tmp_path / HEAD).read_bytes()
    for at in range(len(whole)):
        (tmp_path / HEAD).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert len(read(str(tmp_path)).events) == 4


def test_removed_folder_is_said(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    for act in (lambda: read(gone), lambda: Writer(gone).__enter__()):
        with pytest.raises(RecordError, match="the folder of the case was removed or moved") as raised:
            act()
        assert raised.value.slug == "case-missing"


def test_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    with Writer(str(tmp_path)) as writer:
        writer.append("opened", {})
        with (
            pytest.raises(RecordError, match=f"is being written by process {os.getpid()}"),
            Writer(str(tmp_path)),
        ):
            pass
        assert len(read(str(tmp_path)).events) == 1
    with Writer(str(tmp_path)) as writer:
        writer.append("again", {})


@pytest.mark.parametrize("taken", [0.0, 0.5, 0.999])
def test_full_disk_acknowledges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: float
) -> None:
    content = filled(tmp_path)
    write = os.write
    with Writer(str(tmp_path)) as writer:
        # The last: all but the end of the line.
        monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[: int(len(data) * taken)]))
        with pytest.raises(RecordError, match="only a part of a line") as raised:
            writer.append("lost", {})
        assert raised.value.slug == "case-unwritable"
        monkeypatch.undo()
        assert (tmp_path / HISTORY).read_bytes() == content
        writer.append("kept", {})
    assert [event.event for event in read(str(tmp_path)).events][-2:] == ["kind-3", "kept"]


def test_no_file_is_left_open(tmp_path: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    filled(tmp_path)
    with (tmp_path / HISTORY).open("ab") as file:
        file.write(b"torn")
    with Writer(str(tmp_path)), pytest.raises(RecordError, match="is being written"), Writer(str(tmp_path)):
        pass
    (tmp_path / HISTORY).write_bytes(b"damaged\n")
    with pytest.raises(RecordError, match="line 1: "), Writer(str(tmp_path)):
        pass
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("act", ["flock", "ftruncate"])
def test_disk_without_locks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    content = filled(tmp_path)
    before = sorted(os.listdir("/proc/self/fd"))

    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl if act == "flock" else os, act, refused)
    with pytest.raises(RecordError, match=r"cannot be written: .*No locks available") as raised:
        Writer(str(tmp_path)).__enter__()
    assert raised.value.slug == "case-unwritable"
    assert sorted(os.listdir("/proc/self/fd")) == before
    monkeypatch.undo()
    assert (tmp_path / HISTORY).read_bytes() == content


APPENDER = """
import sys
from firstcause.case.history import Writer
with Writer(sys.argv[1]) as writer:
    print("ready", flush=True)
    while True:
        event = writer.append("tick", {"pad": "x" * (len(writer.events) * 37 % 3000)})
        print(event.seq, flush=True)
"""


def test_killed_writer_loses_nothing_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(7)
    acknowledged = -1
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.0, 0.06))
        child.send_signal(signal.SIGKILL)
        seen = [int(line) for line in child.stdout.read().splitlines() if line.strip()]
        child.wait()
        events = read(str(tmp_path)).events
        acknowledged = max([acknowledged, *seen])
        assert len(events) > acknowledged
        assert [event.seq for event in events] == list(range(len(events)))
    assert acknowledged > 5


def test_every_line_is_one_json_object(tmp_path: Path) -> None:
    for line in filled(tmp_path).decode("ascii").splitlines():
        assert set(json.loads(line)) == {"seq", "time", "event", "data", "previous"}


def test_line_whose_data_is_no_table_is_refused(tmp_path: Path) -> None:
    for number, data in enumerate(([1], None, "x")):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Writer(str(folder)) as writer:
            writer.append("opened", data)  # type: ignore[arg-type]
        with pytest.raises(RecordError, match="line 1: has no data"):
            read(str(folder))
