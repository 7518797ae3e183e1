"""The output of a command, read on its way: of the same kind, byte for byte, in order."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from firstcause.record.supervise.output import Lines

# A parent that watches what its child writes, and tells on a file what it has read.
PARENT = """
import subprocess, sys
from firstcause.record.supervise.output import Output
read = []
with Output(read.append) as output:
    child = subprocess.Popen(
        [sys.executable, "-c", sys.argv[1]], stdout=output.streams[1], stderr=output.streams[2]
    )
    output.started()
    code = child.wait()
open(sys.argv[2], "w").write(repr((code, read)))
"""
TELLS = """
import os, stat, sys
kind = lambda f: "tty" if os.isatty(f) else "file" if stat.S_ISREG(os.fstat(f).st_mode) else "pipe"
print("out", kind(1), flush=True)
print("err", kind(2), file=sys.stderr, flush=True)
"""


def parent(child: str, told: Path, **streams: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", PARENT, textwrap.dedent(child), str(told)], timeout=60, **streams
    )


def read_of(told: Path) -> tuple[int, list[str]]:
    result: tuple[int, list[str]] = eval(told.read_text())
    return result


def test_pieces_to_lines() -> None:
    read: list[str] = []
    lines = Lines(read.append)
    for piece in (
        b"a",
        b"b\nc\r",
        b"d\n",
        "é".encode()[:1],
        "é".encode()[1:] + b"\n",
        b"x" * 200_000,
        b"\nend",
    ):
        lines.feed(piece)
    lines.end()
    assert [x if len(x) < 10 else len(x) for x in read] == ["ab", "c", "d", "é", 1 << 16, "end"]


def test_pipes_stay_pipes_and_nothing_is_changed(tmp_path: Path) -> None:
    child = TELLS + "sys.stdout.buffer.write(bytes(range(256)) * 5000); sys.exit(3)"
    done = parent(child, tmp_path / "told", capture_output=True)
    assert done.stdout == b"out pipe\n" + bytes(range(256)) * 5000
    assert done.stderr == b"err pipe\n"
    code, read = read_of(tmp_path / "told")
    assert code == 3
    assert {"out pipe", "err pipe"} <= set(read)


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_a_file_is_left_alone_and_read_from_where_the_command_began(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    with path.open(mode) as out:
        if mode == "wb":
            out.write(b"mine\n")
            out.flush()
        done = parent(TELLS, tmp_path / "told", stdout=out, stderr=subprocess.STDOUT)
    assert done.returncode == 0
    assert path.read_bytes().endswith(b"out file\nerr file\n")
    assert read_of(tmp_path / "told") == (0, ["out file", "err file"])


def test_a_terminal_stays_a_terminal_of_the_same_size_and_keeps_the_order(tmp_path: Path) -> None:
    import fcntl
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 33, 101, 0, 0))
    child = (
        TELLS
        + """
    print(*os.get_terminal_size(1))
    for i in range(40):
        print("o", i, flush=True)
        print("e", i, file=sys.stderr, flush=True)
    """.replace("\n    ", "\n")
    )
    parent(child, tmp_path / "told", stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    while select.select([master], [], [], 1)[0]:
        try:
            data = os.read(master, 1 << 16)
        except OSError:
            break
        seen += data
    os.close(master)
    # One carriage return a line: the line end was made once.
    expected = ["out tty", "err tty", "101 33", *(f"{s} {i}" for i in range(40) for s in "oe")]
    assert seen.decode() == "".join(line + "\r\n" for line in expected)
    assert read_of(tmp_path / "told") == (0, expected)


def test_a_reader_that_goes_away_ends_the_command_as_it_always_would(tmp_path: Path) -> None:
    child = "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: print('x' * 1000)"
    command = [sys.executable, "-c", PARENT, child, str(tmp_path / "told")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(10) == b"x" * 10
        process.stdout.close()
        assert process.wait(30) == 0
    assert read_of(tmp_path / "told")[0] == -13


def test_closed_streams_are_left_closed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, "print('x')", str(tmp_path / "told")]
    subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.DEVNULL, timeout=60, check=False
    )
    assert read_of(tmp_path / "told")[1] == []
