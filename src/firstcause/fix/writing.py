"""Writes new contents into the user's files: all of them or none, in place, mode bits kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Mapping

from firstcause.errors import InputError, RecordError

# A patch there would change how git or firstcause itself behaves, not the program.
_OURS = (".git", ".firstcause")


def target(cwd: str, path: str) -> str:
    """The real file that ``path`` names beneath ``cwd``; raises ``InputError`` for anything outside it."""
    root = os.path.realpath(cwd)
    real = root if "\0" in path else os.path.realpath(os.path.join(root, path))
    outside = os.path.isabs(path) or ".." in path.split("/") or os.path.commonpath([root, real]) != root
    if outside or real == root or set(_OURS) & set(os.path.relpath(real, root).split(os.sep)):
        message = f"the patch names {path!r}, which is no source below {cwd}"
        raise InputError("patch-outside", message, "firstcause case reject --because TEXT")
    if not os.path.isfile(real):
        message = f"the patch changes {path!r}, and {cwd} has no such file"
        raise InputError("patch-no-file", message, "run it in the folder of the recorded run")
    if not os.access(real, os.W_OK):
        raise RecordError("patch-unwritable", f"{real} is read-only", "make it writable, then repeat")
    return real


def file_hash(path: str) -> str:
    """The sha256 of a file's content, or an empty text where there is no such file."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        message = f"{path} cannot be read: {error}"
        raise RecordError("file-unreadable", message, "check its permissions") from error


def rewrite(contents: Mapping[str, bytes]) -> None:
    """Replace the content of every file, or of none: a failure half-way puts the earlier ones back.

    Raises ``RecordError`` where a file cannot be written, and says what state the files are in.
    """
    staged: dict[str, str] = {}
    try:
        before = {path: _content(path) for path in contents}
        for path, content in contents.items():
            staged[path] = _stage(path, content)
        _replace_all(staged, before)
    except OSError as error:
        message = f"{error.filename or 'a file'} cannot be written: {error.strerror}; no file was changed"
        hint = "fix its permissions or free space, then repeat"
        raise RecordError("patch-unwritable", message, hint) from error
    finally:
        for temporary in staged.values():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    for folder in {os.path.dirname(path) for path in contents}:
        sync_folder(folder)


def _replace_all(staged: Mapping[str, str], before: Mapping[str, bytes]) -> None:
    done: list[str] = []
    try:
        for path, temporary in staged.items():
            os.replace(temporary, path)
            done.append(path)
    except OSError as first:
        try:
            for path in done:
                os.replace(_stage(path, before[path]), path)
        except OSError as second:
            message = f"{first}; and {', '.join(done)} could not all be put back: {second}"
            hint = "restore these files from version control"
            raise RecordError("patch-half-written", message, hint) from second
        raise


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _stage(path: str, content: bytes) -> str:
    """A new file beside ``path`` with the content and the mode of ``path``, on the disk."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.firstcause")
    status = os.stat(path)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(fd, status.st_uid, status.st_gid)
            os.fchmod(fd, stat.S_IMODE(status.st_mode))
            file.flush()
            os.fsync(fd)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def digest_of(content: bytes) -> str:
    """The sha256 of a content."""
    return hashlib.sha256(content).hexdigest()


def sync_folder(folder: str) -> None:
    """Make the names in ``folder`` durable: until then a crash of the machine can lose a new file."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
