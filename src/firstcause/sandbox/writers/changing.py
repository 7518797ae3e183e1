"""Changing the file system: folders, names, links, attributes; each in the layer, with the errors of the real one."""

from __future__ import annotations

import errno
import os
import posix
import stat
from collections.abc import Callable
from typing import Any

from firstcause.sandbox.copies import fail, is_folder, status
from firstcause.sandbox.overlay import Overlay
from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace


def make_folder(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
    _make(path, dir_fd, lambda own: posix.mkdir(own, mode))


def make_pipe(path: Any, mode: int = 0o666, *, dir_fd: int | None = None) -> None:
    _make(path, dir_fd, lambda own: posix.mkfifo(own, mode))


def make_symlink(src: Any, dst: Any, target_is_directory: bool = False, *, dir_fd: int | None = None) -> None:
    with layer.errors_name(src, dst):
        _make(dst, dir_fd, lambda own: posix.symlink(layer.text(src), own))


def make_link(
    src: Any,
    dst: Any,
    *,
    src_dir_fd: int | None = None,
    dst_dir_fd: int | None = None,
    follow_symlinks: bool = True,
) -> None:
    found = layer.current()
    with layer.errors_name(src, dst):
        # Linux's link() follows no link; Python asks for that only where it uses linkat().
        follow = follow_symlinks and (src_dir_fd is not None or dst_dir_fd is not None)
        source = found.resolve(layer.at(src, src_dir_fd), follow)
        folder = stat.S_ISDIR(_present(found, source, src).st_mode)

        def make(own: str) -> None:
            if folder:
                fail(errno.EPERM, source)
            found.enter(source, source, writable=False)
            found.bring(source)
            posix.link(found.where(source), own)

        _make(dst, dst_dir_fd, make)


def _make(path: Any, dir_fd: int | None, make: Callable[[str], None]) -> None:
    found = layer.current()
    with layer.errors_name(path):
        here = found.resolve(layer.at(path, dir_fd), False)
        if status(found.where(here)) is not None:
            fail(errno.EEXIST, here)
        if not found.is_scratch(here):
            found.enter(here, here)
            here = found.upper + here
        make(here)


def remove(path: Any, *, dir_fd: int | None = None) -> None:
    _remove(path, dir_fd, folder=False)


def remove_folder(path: Any, *, dir_fd: int | None = None) -> None:
    _remove(path, dir_fd, folder=True)


def _remove(path: Any, dir_fd: int | None, folder: bool) -> None:
    found = layer.current()
    with layer.errors_name(path):
        here = found.resolve(layer.at(path, dir_fd), False)
        real = found.where(here)
        present = _present(found, here, path)
        if folder != stat.S_ISDIR(present.st_mode):
            fail(errno.ENOTDIR if folder else errno.EISDIR, here)
        if not found.is_scratch(here):
            if folder and found.names(here):
                fail(errno.ENOTEMPTY, here)
            found.enter(here, here)
            found.hidden.add(here)
            here = found.upper + here
        if folder and is_folder(here):
            posix.rmdir(here)
        elif not folder and real == here:
            posix.unlink(here)


def move(src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
    """``os.rename`` and ``os.replace``: the source is copied into the layer, and hidden where it was."""
    found = layer.current()
    with layer.errors_name(src, dst):
        source = found.resolve(layer.at(src, src_dir_fd), False)
        target = found.resolve(layer.at(dst, dst_dir_fd), False)
        folder = stat.S_ISDIR(_present(found, source, src).st_mode)
        there = status(found.where(target))
        if source == target:
            return
        if target.startswith(source + "/"):
            fail(errno.EINVAL, target)
        if source.startswith(target + "/"):
            fail(errno.ENOTEMPTY, target)
        if there is not None:
            occupied = stat.S_ISDIR(there.st_mode)
            if occupied != folder:
                fail(errno.EISDIR if occupied else errno.ENOTDIR, target)
            if occupied and found.names(target):
                fail(errno.ENOTEMPTY, target)
        from_scratch, to_scratch = found.is_scratch(source), found.is_scratch(target)
        for here, inside in ((source, from_scratch), (target, to_scratch)):
            if not inside:
                found.enter(here, here)
        if not from_scratch:
            found.bring(source)
        posix.rename(
            source if from_scratch else found.upper + source, target if to_scratch else found.upper + target
        )
        if not from_scratch:
            found.hidden.add(source)
        if not to_scratch:
            # The files that a folder of this name had before must not show through.
            found.hidden.add(target)


def truncate(path: Any, length: int) -> None:
    if isinstance(path, int):
        posix.ftruncate(path, length)
        return
    with layer.errors_name(path):
        posix.truncate(layer.current().for_writing(layer.text(path), keep=True, create=False), length)


def _sets(function: Callable[..., Any], follow: bool | None = None) -> Callable[..., Any]:
    """``function(path, ...)`` that changes an attribute: of a copy, and of nothing that is open from outside."""

    def setting(path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:
        found = layer.current()
        if isinstance(path, int):
            inside = posix.readlink(f"/proc/self/fd/{path}").startswith(found.scratch + "/")
            return function(path, *args, **kwargs) if inside else None
        following = follow if follow is not None else kwargs.get("follow_symlinks", True)
        with layer.errors_name(path):
            here = found.resolve(layer.at(path, dir_fd), following)
            _present(found, here, path)
            if found.is_scratch(here):
                return function(here, *args, **kwargs)
            if is_folder(found.where(here)) and found.visible(here):
                # A real folder keeps its attributes: the layer would have to copy all that it holds.
                return None
            found.enter(here, here, writable=False)
            found.bring(here)
            return function(found.upper + here, *args, **kwargs)

    return setting


def _present(found: Overlay, here: str, path: Any) -> os.stat_result:
    present = status(found.where(here))
    if present is None:
        fail(errno.ENOENT, layer.text(path))
    return present


def patch() -> None:
    changes: dict[str, Callable[..., None]] = {
        "mkdir": make_folder,
        "mkfifo": make_pipe,
        "symlink": make_symlink,
        "link": make_link,
        "remove": remove,
        "unlink": remove,
        "rmdir": remove_folder,
        "rename": move,
        "replace": move,
        "truncate": truncate,
    }
    for name, function in changes.items():
        replace(os, name, function)
    for name in ("chmod", "chown", "utime", "setxattr", "removexattr", "fchmod", "fchown"):
        replace(os, name, _sets(getattr(posix, name)))
    replace(os, "lchown", _sets(posix.lchown, follow=False))
