"""A run as one archive to hand on: .tar.gz or .zip, with a manifest of what is in it and what was left out."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from firstcause.errors import InputError, RecordError
from firstcause.record import private, redact
from firstcause.record.folder import RunFolder

MANIFEST = "manifest.json"
# By these words a person names what is not to leave the machine.
PARTS = {"data": ("snapshots",), "sources": ("sources",)}
ALWAYS_LEFT = {"scratch": "files of a replay that was cut short", "mains": "compiled code of this machine"}

Add = Callable[[str, bytes | str], None]


@dataclass(frozen=True)
class Packed:
    """What an archive holds and what was left out of it, each path with its bytes."""

    path: str
    files: dict[str, int]
    left_out: dict[str, str]


def pack(folder: RunFolder, out: str, without: frozenset[str] = frozenset()) -> Packed:
    """Write the archive, whole or not at all; ``without`` are words of ``PARTS``.

    Raises ``InputError`` for another kind of archive, ``RecordError`` where it cannot be written.
    """
    if not out.endswith((".tar.gz", ".tgz", ".zip")):
        raise InputError(
            "archive-kind", f"{out} is neither .tar.gz nor .zip", "firstcause runs pack RUN -o run.tar.gz"
        )
    name = os.path.basename(folder.path)
    temporary = f"{out}.{os.getpid()}.new"
    files: dict[str, int] = {}
    sums: dict[str, str] = {}
    left_out: dict[str, str] = {}
    try:
        with _archive(temporary, out.endswith(".zip")) as add:
            for relative, path in _files(folder.path):
                why = _left_out(relative, path, without)
                if why:
                    left_out[relative] = why
                    continue
                files[relative] = os.path.getsize(path)
                sums[relative] = _sum(path)
                add(f"{name}/{relative}", path)
            add(f"{name}/{MANIFEST}", _manifest(name, files, sums, left_out))
        os.replace(temporary, out)
    except OSError as error:
        _forget(temporary)
        raise RecordError(
            "archive-unwritable", f"{out} cannot be written: {error}", "choose another file with -o"
        ) from error
    except BaseException:
        _forget(temporary)
        raise
    return Packed(out, files, left_out)


@contextmanager
def _archive(path: str, zipped: bool) -> Iterator[Add]:
    with open(path, "wb", opener=private.opener) as file:
        if zipped:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                yield (
                    lambda name, what: (
                        archive.writestr(name, what) if isinstance(what, bytes) else archive.write(what, name)
                    )
                )
            return
        with tarfile.open(fileobj=file, mode="w:gz") as tar:

            def add(name: str, what: bytes | str) -> None:
                entry = tarfile.TarInfo(name)
                entry.mode = private.FILE
                if isinstance(what, bytes):
                    entry.size = len(what)
                    tar.addfile(entry, io.BytesIO(what))
                    return
                with open(what, "rb") as source:
                    # The owner's name is nobody else's business.
                    entry.size, entry.mtime = os.fstat(source.fileno()).st_size, int(os.stat(what).st_mtime)
                    tar.addfile(entry, source)

            yield add


def _files(root: str) -> Iterator[tuple[str, str]]:
    for place, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.relpath(path, root), path


def _left_out(relative: str, path: str, without: frozenset[str]) -> str:
    """Why a file does not go into the archive; empty where it does."""
    top = relative.split(os.sep)[0]
    if top in ALWAYS_LEFT:
        return ALWAYS_LEFT[top]
    if os.path.islink(path) or not os.path.isfile(path):
        return "a link, or no plain file"
    if relative.endswith(".new"):
        return "half a file"
    named = next((word for word, tops in PARTS.items() if word in without and top in tops), "")
    return f"--without {named}" if named else ""


def _manifest(name: str, files: dict[str, int], sums: dict[str, str], left_out: dict[str, str]) -> bytes:
    said: dict[str, Any] = {
        "run": name,
        "files": {n: {"bytes": size, "sha256": sums[n]} for n, size in files.items()},
        "left_out": left_out,
        "beyond": "the program, its data and its environment are not in a record",
    }
    return (json.dumps(redact.value(said), indent=1) + "\n").encode()


def _sum(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _forget(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
