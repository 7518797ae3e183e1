"""The text of the user's files beside the record, where it is small, so that a later run can be told apart line by line."""

from __future__ import annotations

import os
from collections.abc import Mapping

from firstcause.record import private, redact
from firstcause.record.folder import RunFolder

FOLDER = "sources"
LARGEST = 256 << 10
MOST = 4 << 20


def keep(folder: RunFolder, hashes: Mapping[str, str]) -> None:
    """Copy the files of ``hashes`` (path to SHA-256) beneath the run, small ones first, as long as there is room."""
    sized = sorted((_size(path), path) for path in hashes)
    left = MOST
    for size, path in sized:
        if size > min(LARGEST, left):
            continue
        try:
            with open(path, "rb") as file:
                content = file.read(LARGEST + 1)
            private.make_folder(folder.file(FOLDER))
            with open(folder.file(FOLDER, hashes[path]), "wb", opener=private.opener) as file:
                file.write(_without_secrets(content))
        except OSError:
            # Gone since, or no room: the hash still tells that it differs.
            continue
        left -= size


def text_of(folder: RunFolder, digest: str) -> str | None:
    """The text that was kept under a hash, or None where none was."""
    try:
        with open(folder.file(FOLDER, digest), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _without_secrets(content: bytes) -> bytes:
    """The text with literals that are secret redacted; the file's hash stays that of the file itself."""
    # Latin-1 gives every byte back as it was, whatever the file's encoding is.
    return redact.text(content.decode("latin-1"), code=True).encode("latin-1")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return LARGEST + 1
