"""Journals and archives that are whole, with contents that nobody would write."""

from __future__ import annotations

import io
import json
import tarfile
import zlib

from damage import damaged_value
from hypothesis import strategies as st
from view.projects import COLUMNS, row

from firstcause.record import journal
from firstcause.view.page import one_file

EVENT = {"event": "memory", "step": 3, "resident": 10**9, "text": "x", "rank": 0}
NAMES = ("loss", "lr", "", "\x1b[31m", "grad_norm/", "seconds")
STEPS = (-1, 0, 7, 2**31 - 1)
MEMBERS = (
    "runs/r1/run.json",
    "runs/../x",
    "/etc/x",
    "runs/r1",
    "cases/a/b/c",
    "runs/r1/.x",
    "x",
    "runs/\x1b[31m/a",
)
KINDS = (
    tarfile.REGTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
    tarfile.CHRTYPE,
)


@st.composite
def journals(draw: st.DrawFn) -> bytes:
    """Frames that fit their checksums: odd events, columns that come again, steps out of order."""
    written = _Frames()
    for step in range(3):
        written.metrics(step, COLUMNS, row(step))
    for _ in range(draw(st.integers(1, 4))):
        written.odd(draw(damaged_value(EVENT)))
        names = tuple(draw(st.lists(st.sampled_from(NAMES), max_size=3)))
        written.metrics(draw(st.sampled_from(STEPS)), names, [float("nan")] * len(names))
    return bytes(written.data)


class _Frames(journal.Journal):
    """A journal in memory."""

    def __init__(self) -> None:
        super().__init__("")
        self.data = bytearray()

    def odd(self, event: object) -> None:
        self._frame(journal.EVENT, json.dumps(event).encode())

    def _frame(self, kind: int, payload: bytes, number: int = 0) -> None:
        check = zlib.crc32(payload, kind | number << 8)
        self.data += journal.HEADER.pack(journal.MAGIC, kind, number, len(payload), check) + payload


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A report whose record names what does not belong into one."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for _ in range(draw(st.integers(1, 3))):
            entry = tarfile.TarInfo(draw(st.sampled_from(MEMBERS)))
            entry.type = draw(st.sampled_from(KINDS))
            entry.linkname = "/etc/passwd"
            entry.mode = 0o7777
            content = draw(st.binary(max_size=20)) if entry.isreg() else b""
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return one_file([{"id": "r1", "kind": "run"}], [], out.getvalue(), "r1").encode()
