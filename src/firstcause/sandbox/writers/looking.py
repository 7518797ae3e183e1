"""Looking at the file system: ``os.stat`` and all that is made of it (``exists``, ``isfile``, ``getsize``), listings."""

from __future__ import annotations

import os
import posix
import stat
from collections.abc import Callable, Iterator
from typing import Any

from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace


def _looks(function: Callable[..., Any], follow: bool | None = None) -> Callable[..., Any]:
    """``function(path, ..., dir_fd=, follow_symlinks=)`` for the real place of the path."""

    def looking(path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:
        if isinstance(path, int):
            return function(path, *args, **kwargs)
        following = follow if follow is not None else kwargs.get("follow_symlinks", True)
        with layer.errors_name(path):
            real = layer.current().for_reading(layer.at(path, dir_fd), following)
            return function(real, *args, **kwargs)

    return looking


_access = _looks(posix.access)


def may_access(path: Any, mode: int, **kwargs: Any) -> bool:
    try:
        return bool(_access(path, mode, **kwargs))
    except OSError:
        # A folder on the way is missing.
        return False


def read_link(path: Any, *, dir_fd: int | None = None) -> Any:
    with layer.errors_name(path):
        target = layer.current().logical(
            posix.readlink(layer.current().for_reading(layer.at(path, dir_fd), False))
        )
    return os.fsencode(target) if isinstance(os.fspath(path), bytes) else target


def list_folder(path: Any = None) -> Any:
    """``os.listdir``, of the folder as the program has changed it."""
    with layer.errors_name(path):
        here = _folder(path)
        if here is None:
            return posix.listdir(path) if path is not None else posix.listdir()
        names = _names(here)
    return [os.fsencode(name) for name in names] if _is_bytes(path) else names


def scan_folder(path: Any = None) -> Any:
    """``os.scandir``, likewise."""
    with layer.errors_name(path):
        here = _folder(path)
        if here is None:
            return posix.scandir(path) if path is not None else posix.scandir()
        return Scan(path, here, _names(here))


def _names(here: str) -> list[str]:
    found = layer.current()
    if not stat.S_ISDIR(posix.stat(found.where(here)).st_mode):
        posix.listdir(found.where(here))
    return found.names(here)


def _folder(path: Any) -> str | None:
    """The logical path of a folder, or None as long as nothing at all has been changed."""
    found = layer.current()
    if not found.touched:
        return None
    return found.resolve(
        layer.of_descriptor(path) if isinstance(path, int) else layer.text(path if path is not None else ".")
    )


def _is_bytes(path: Any) -> bool:
    return path is not None and not isinstance(path, int) and isinstance(os.fspath(path), bytes)


class Scan:
    """What ``os.scandir`` gives: an iterator that can be closed."""

    def __init__(self, path: Any, here: str, names: list[str]) -> None:
        folder = "" if isinstance(path, int) else layer.text(path if path is not None else ".")
        binary = _is_bytes(path)
        self._entries = (Entry(folder, here, name, binary) for name in names)

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries.close()


class Entry(os.PathLike):  # type: ignore[type-arg]
    """An ``os.DirEntry`` of the layer."""

    def __init__(self, folder: str, here: str, name: str, binary: bool) -> None:
        path = os.path.join(folder, name)
        self.name: Any = os.fsencode(name) if binary else name
        self.path: Any = os.fsencode(path) if binary else path
        self._here = f"{here.rstrip('/')}/{name}"

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        found = layer.current()
        with layer.errors_name(self.path):
            return posix.stat(found.for_reading(self._here, follow_symlinks), follow_symlinks=follow_symlinks)

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._is(stat.S_ISDIR, follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._is(stat.S_ISREG, follow_symlinks)

    def is_symlink(self) -> bool:
        return self._is(stat.S_ISLNK, False)

    def is_junction(self) -> bool:
        return False

    def _is(self, kind: Callable[[int], bool], follow: bool) -> bool:
        try:
            return kind(self.stat(follow_symlinks=follow).st_mode)
        except FileNotFoundError:
            return False


def change_folder(path: Any) -> None:
    if isinstance(path, int):
        return posix.chdir(path)
    with layer.errors_name(path):
        return posix.chdir(layer.for_reading(path))


def current_folder() -> str:
    return layer.current().logical(posix.getcwd())


def patch() -> None:
    replace(os, "access", may_access)
    for name in ("stat", "statvfs", "getxattr", "listxattr"):
        replace(os, name, _looks(getattr(posix, name)))
    replace(os, "lstat", _looks(posix.lstat, follow=False))
    replace(os, "readlink", read_link)
    replace(os, "listdir", list_folder)
    replace(os, "scandir", scan_folder)
    replace(os, "chdir", change_folder)
    replace(os, "getcwd", current_folder)
    replace(os, "getcwdb", lambda: os.fsencode(current_folder()))
