"""Every frame that was written whole is read back, whatever follows it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from firstcause.record.journal import Journal, read

floats = st.floats(width=32, allow_nan=False)
rows = st.lists(st.tuples(st.integers(0, 2**40), st.lists(floats, min_size=1, max_size=5)), max_size=8)


def written(folder: Path, content: list[tuple[int, list[float]]]) -> Path:
    path = folder / "rank-0-1.journal"
    path.unlink(missing_ok=True)
    journal = Journal(str(path))
    journal.event("start", pid=1)
    for step, values in content:
        journal.metrics(step, tuple(f"c{i}" for i in range(len(values))), values)
    return path


@given(content=rows)
def test_what_was_written_is_read(tmp_path_factory, content) -> None:  # type: ignore[no-untyped-def]
    path = written(tmp_path_factory.mktemp("j"), content)
    reading = read(str(path))
    assert [(r.step, list(r.values)) for r in reading.rows] == content
    assert [e["event"] for e in reading.events] == ["start"]
    assert reading.lost_bytes == 0


@given(content=rows, cut=st.integers(0, 400))
def test_a_torn_end_costs_the_torn_frame_alone(tmp_path_factory, content, cut) -> None:  # type: ignore[no-untyped-def]
    path = written(tmp_path_factory.mktemp("j"), content)
    whole = read(str(path))
    data = path.read_bytes()
    kept = data[: max(0, len(data) - cut)]
    path.write_bytes(kept)
    part = read(str(path))
    assert list(part.rows) == list(whole.rows[: len(part.rows)])
    assert len(kept) - part.lost_bytes <= len(kept)
    path.write_bytes(kept[: len(kept) - part.lost_bytes])
    assert read(str(path)).lost_bytes == 0


@given(content=rows, at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed(tmp_path_factory, content, at, bit) -> None:  # type: ignore[no-untyped-def]
    path = written(tmp_path_factory.mktemp("j"), content)
    whole = read(str(path))
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at] ^= 1 << bit
    path.write_bytes(bytes(data))
    part = read(str(path))
    assert part.lost_bytes > 0
    left = iter(whole.rows)
    assert all(row in left for row in part.rows)


def test_a_damaged_row_costs_itself_alone(tmp_path: Path) -> None:
    path = written(tmp_path, [(step, [float(step)]) for step in range(9)])
    data = bytearray(path.read_bytes())
    data[-5 * 24 + 18] ^= 1
    path.write_bytes(bytes(data))
    part = read(str(path))
    assert [row.step for row in part.rows] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert part.lost_bytes == 24


def test_columns_that_take_turns_are_named_once_each(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "rank-0-1.journal"))
    for step in range(600):
        journal.metrics(step, (f"of {step % 3}",), [float(step)])
    rows = read(journal.path).rows
    assert [(r.step, r.columns, r.values) for r in rows] == [
        (step, (f"of {step % 3}",), (float(step),)) for step in range(600)
    ]
    assert os.path.getsize(journal.path) == 3 * len('["of 0"]') + 603 * 12 + 600 * 12


def test_more_sets_of_columns_than_numbers(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "rank-0-1.journal"))
    sets = [(f"of {i}",) for i in range(300)]
    for step in range(900):
        journal.metrics(step, sets[step % 300], [float(step)])
    rows = read(journal.path).rows
    assert [(r.columns, r.values) for r in rows] == [(sets[s % 300], (float(s),)) for s in range(900)]


def test_rows_behind_lost_names_of_columns_are_not_given_other_names(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "rank-0-1.journal"))
    journal.metrics(0, ("loss",), [1.0])
    size = os.path.getsize(journal.path)
    journal.metrics(1, ("norm",), [2.0])
    journal.event("end")
    data = bytearray(Path(journal.path).read_bytes())
    data[size + 14] ^= 1
    Path(journal.path).write_bytes(bytes(data))
    part = read(journal.path)
    assert [(r.columns, r.values) for r in part.rows] == [(("loss",), (1.0,))]
    assert [e["event"] for e in part.events] == ["end"]


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    program = (
        "import sys; from firstcause.record.journal import Journal\n"
        "j = Journal(sys.argv[1]); n = 0\n"
        "while True:\n"
        "    j.metrics(n, ('loss',), [float(n)]); print(n, flush=True); n += 1\n"
    )
    path = tmp_path / "rank-0-1.journal"
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGKILL)
    acknowledged = process.communicate()[0].split()
    assert len(acknowledged) > 10
    assert len(read(str(path)).rows) >= int(acknowledged[-1])
