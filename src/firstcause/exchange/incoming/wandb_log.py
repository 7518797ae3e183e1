"""The file in which W&B keeps an offline run: records in a log as LevelDB writes it, each in protobuf's wire format.

W&B's own library no longer reads it in Python, so that the two formats, which cannot change, are read here.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from firstcause.errors import InputError

_FILE = struct.Struct("<4sHB")
_MARK = (b":W&B", 0xBEE1, 0)
_PIECE = struct.Struct("<IHB")
_BLOCK = 32768
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
# No record of figures is larger; a damaged length may be anything.
_LARGEST = 64 << 20
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def records(path: str) -> Iterator[bytes]:
    """The whole records of the file in order; what was cut off at its end, or is damaged there, is left out.

    Raises ``InputError`` where the file does not begin as one of W&B's.
    """
    with open(path, "rb") as file:
        begin = file.read(_FILE.size)
        if len(begin) < _FILE.size or _FILE.unpack(begin) != _MARK:
            message = f"{path} does not begin as an offline run of W&B"
            raise InputError("history-unreadable", message, "give the folder wandb/offline-run-…")
        parts = b""
        for kind, data in _pieces(file, _FILE.size):
            parts = data if kind in (_FULL, _FIRST) else parts + data
            if len(parts) > _LARGEST:
                return
            if kind in (_FULL, _LAST):
                yield parts


def _pieces(file: BinaryIO, at: int) -> Iterator[tuple[int, bytes]]:
    """Pieces of records; none lies across two blocks of the file."""
    while True:
        left = _BLOCK - at % _BLOCK
        if left < _PIECE.size:
            file.seek(left, 1)
            at += left
        head = file.read(_PIECE.size)
        if len(head) < _PIECE.size:
            return
        check, length, kind = _PIECE.unpack(head)
        data = file.read(length)
        if len(data) < length or zlib.crc32(data, zlib.crc32(bytes([kind]))) != check:
            return
        at += _PIECE.size + length
        yield kind, data


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message; raises ``ValueError`` on one that is no message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        value: int | bytes
        if kind == _VARINT:
            value, at = _varint(message, at)
        else:
            if kind == _BYTES:
                length, at = _varint(message, at)
            elif kind in (_FIXED64, _FIXED32):
                length = 8 if kind == _FIXED64 else 4
            else:
                raise ValueError(f"no field has the wire type {kind}")
            if at + length > len(message):
                raise ValueError("a field is longer than its message")
            value, at = message[at : at + length], at + length
        yield key >> 3, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("a number has no end")
