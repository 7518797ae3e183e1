"""Files as chunks of bytes: plain, compressed or packed, with bounds on what comes out of them."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple, cast

from firstcause.errors import InputError
from firstcause.triage.expressions import expression
from firstcause.triage.lines import cleaned

CHUNK = 4 << 20
# A log shrinks to a fiftieth; what grows by more is made to fill the disk or the memory of whoever opens it.
GROWTH = 400
AT_LEAST = 64 << 20
AT_MOST = 2 << 30
MEMBERS = 256
NESTING = 3
_HEAD = 1 << 12

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_RANK = expression(
    r"rank[_-]?(\d{1,5})(?!\d)|(?:^|/)(\d{1,5})/(?:std(?:out|err)\.log|error\.json)$", re.IGNORECASE
)


class Part(NamedTuple):
    """A file, or a member of an archive: its name, its bytes in chunks, and what could not be read of it."""

    name: str
    chunks: Iterator[bytes]
    notes: list[str]

    @property
    def rank(self) -> int | None:
        """The rank that the name tells, such as ``rank_3.log`` or ``attempt_0/3/stderr.log``."""
        match = _RANK.search(self.name.replace(os.sep, "/"))
        return int(match[1] or match[2]) if match else None


def parts_of(source: str | IO[bytes], name: str) -> Iterator[Part]:
    """The text of a file or a stream, or of each member of an archive.

    Raises ``InputError`` where it cannot be opened or read.
    """
    name = shown(name)
    try:
        if not isinstance(source, str):
            yield from _parts(source, name)
        elif os.path.isdir(source):
            hint = f"name a file, such as {shown(os.path.join(source, 'train.log'))}"
            raise InputError("triage-folder", f"{name} is a folder", hint)
        else:
            with open(source, "rb") as file:
                yield from _parts(file, name, os.fstat(file.fileno()).st_size)
    except (OSError, ValueError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        message = f"{name} cannot be read: {reason}"
        raise InputError(
            "triage-unreadable", message, "name a file that exists, or - for standard input"
        ) from error


def shown(path: str) -> str:
    """A path on one line, without control codes."""
    return " ".join(cleaned(path).split())


def _parts(file: IO[bytes], name: str, size: int = 0, depth: int = 0) -> Iterator[Part]:
    """``size`` is what the stream takes on disk, 0 where that is not known."""
    head = _first(file)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")
    notes: list[str] = []
    limit = max(AT_LEAST, min(AT_MOST, GROWTH * size)) if size else AT_MOST
    whole = cast("IO[bytes]", _Again(head, file))
    if not kind:
        tar = head[257:262] == b"ustar"
        if tar and depth < NESTING:
            yield from _tar(whole, name, limit, depth)
        else:
            yield Part(name, _chunks(whole, notes, None), notes)
        return
    if depth >= NESTING:
        raise InputError(
            "triage-nested",
            f"{name} is packed more than {NESTING} times",
            "unpack it and name the log itself",
        )
    if kind == "zip":
        yield from _zip(whole, name, limit, depth)
        return
    opened = _OPENERS[kind](whole, name)
    bounded = cast("IO[bytes]", _Bounded(opened, limit, notes, name))
    for part in _parts(bounded, name, 0, depth + 1):
        part.notes.extend(notes)
        yield Part(part.name, _noting(part, notes), part.notes)


def _noting(part: Part, notes: list[str]) -> Iterator[bytes]:
    yield from part.chunks
    part.notes.extend(note for note in notes if note not in part.notes)


def _first(file: IO[bytes]) -> bytes:
    head = b""
    while len(head) < _HEAD:
        piece = file.read(_HEAD - len(head))
        if not piece:
            break
        head += piece
    return head


def _chunks(file: IO[bytes], notes: list[str], limit: int | None) -> Iterator[bytes]:
    left = limit
    while left is None or left > 0:
        try:
            piece = file.read(CHUNK if left is None else min(CHUNK, left))
        except (OSError, EOFError, ValueError) as error:
            notes.append(f"the rest cannot be read: {error}")
            return
        if not piece:
            return
        left = None if left is None else left - len(piece)
        yield piece


class _Again(io.RawIOBase):
    """A stream whose head, already read, is read once more."""

    def __init__(self, head: bytes, file: IO[bytes]) -> None:
        self._head, self._file = head, file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._head and size >= 0:
            piece, self._head = self._head[:size], self._head[size:]
            return piece
        rest, self._head = self._head, b""
        return rest + self._file.read(size)


class _Bounded(_Again):
    """A decompressed stream that ends at a limit or at damage, and says so."""

    def __init__(self, file: IO[bytes], limit: int, notes: list[str], name: str) -> None:
        super().__init__(b"", file)
        self._left, self._notes, self._name = limit, notes, name

    def read(self, size: int = -1) -> bytes:
        if self._left <= 0:
            self._note(f"{self._name} grows too much when it is unpacked; the rest was not read")
            return b""
        try:
            piece = self._file.read(min(CHUNK, self._left) if size < 0 else min(size, self._left))
        except Exception as error:  # noqa: BLE001
            # Damaged data makes each decompressor raise its own errors; what came before them counts.
            self._note(f"{self._name} is damaged; what came before was read ({type(error).__name__})")
            self._left = 0
            return b""
        self._left -= len(piece)
        return piece

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


def _gzip(file: IO[bytes], name: str) -> IO[bytes]:
    import gzip

    return cast("IO[bytes]", gzip.GzipFile(fileobj=file))


def _bz2(file: IO[bytes], name: str) -> IO[bytes]:
    import bz2

    return cast("IO[bytes]", bz2.BZ2File(file))


def _xz(file: IO[bytes], name: str) -> IO[bytes]:
    import lzma

    return cast("IO[bytes]", lzma.LZMAFile(file))


def _zstd(file: IO[bytes], name: str) -> IO[bytes]:
    import importlib

    # In the standard library since Python 3.14.
    for module in ("compression.zstd", "backports.zstd", "pyzstd"):
        try:
            return cast("IO[bytes]", importlib.import_module(module).ZstdFile(file))
        except ImportError:
            continue
    try:
        reader = importlib.import_module("zstandard").ZstdDecompressor().stream_reader(file)
    except ImportError:
        message = f"{name} is compressed by zstd, which this Python cannot read"
        raise InputError("triage-zstd", message, f"zstd -dc {name} | firstcause triage -") from None
    return cast("IO[bytes]", reader)


_OPENERS: dict[str, Callable[[IO[bytes], str], IO[bytes]]] = {
    "gzip": _gzip,
    "bz2": _bz2,
    "xz": _xz,
    "zstd": _zstd,
}


def _zip(file: IO[bytes], name: str, limit: int, depth: int) -> Iterator[Part]:
    import zipfile

    # Its directory stands at the end, so all of it must be at hand.
    held = _held(file)
    try:
        with zipfile.ZipFile(held) as packed:
            members = [info for info in packed.infolist() if not info.is_dir()]
            for info in members[:MEMBERS]:
                with packed.open(info) as member:
                    notes: list[str] = []
                    bounded = cast("IO[bytes]", _Bounded(member, limit, notes, info.filename))
                    for part in _parts(bounded, f"{name}/{info.filename}", 0, depth + 1):
                        yield Part(part.name, _noting(part, notes), part.notes)
                    limit -= info.file_size
                if limit <= 0:
                    return
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        message = f"{name} is a zip file that cannot be unpacked: {error}"
        raise InputError("triage-unreadable", message, "unpack it and name the log itself") from error


def _held(file: IO[bytes]) -> IO[bytes]:
    import tempfile

    # A spooled file cannot be sought in by zipfile before Python 3.11.
    held: IO[bytes] = io.BytesIO()
    size = 0
    while piece := file.read(CHUNK):
        size += len(piece)
        if size > AT_MOST:
            hint = "unpack it and name the log itself"
            raise InputError("triage-nested", f"a zip file of more than {AT_MOST >> 30} GiB", hint)
        if size > CHUNK and isinstance(held, io.BytesIO):
            first, held = held.getvalue(), tempfile.TemporaryFile()  # noqa: SIM115
            held.write(first)
        held.write(piece)
    held.seek(0)
    return held


def _tar(file: IO[bytes], name: str, limit: int, depth: int) -> Iterator[Part]:
    import tarfile

    try:
        with tarfile.open(fileobj=file, mode="r|") as packed:
            for number, info in enumerate(packed):
                if number >= MEMBERS or limit <= 0:
                    return
                member = packed.extractfile(info) if info.isfile() else None
                if member is not None:
                    notes: list[str] = []
                    bounded = cast("IO[bytes]", _Bounded(member, limit, notes, info.name))
                    for part in _parts(bounded, f"{name}/{info.name}", 0, depth + 1):
                        yield Part(part.name, _noting(part, notes), part.notes)
                    limit -= info.size
    except tarfile.TarError as error:
        message = f"{name} is a tar file that cannot be unpacked: {error}"
        raise InputError("triage-unreadable", message, "unpack it and name the log itself") from error
