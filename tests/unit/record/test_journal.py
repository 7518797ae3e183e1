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
    # The padding byte of a header is the only one that means nothing.
    assert part == whole or (part.lost_bytes > 0 and list(part.rows) == list(whole.rows[: len(part.rows)]))


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
