"""The scratch folder as a layer over the file system: written into, and seen first by later reads.

A logical path is absolute and free of symbolic links, as the program believes it to be; where its bytes are is
``upper + path`` once the sealed process has written it, else the path itself, unless it was deleted here.
"""

from __future__ import annotations

import errno
import os
import posix
import stat

from firstcause.sandbox.copies import copy, fail, is_folder, link, make_folders, status

LINKS = 40
# Nothing that is written to these is kept by anybody: null, zero, full, random, urandom.
SINKS = frozenset(os.makedev(1, minor) for minor in (3, 5, 7, 8, 9))


class Overlay:
    """Where the sealed process finds and leaves its files."""

    def __init__(self, scratch: str) -> None:
        self.scratch = os.path.realpath(scratch)
        self.upper = self.scratch + "/files"
        # Below these the real file system is not seen any more: deleted, moved away, or replaced.
        self.hidden: set[str] = set()
        # False until the first change: a program that only reads pays nothing.
        self.touched = False

    # ------------------------------------------------------------------ paths

    def resolve(self, path: str, follow: bool = True) -> str:
        """The logical path, with every symbolic link followed; the last one only where ``follow`` is true.

        Raises ``OSError`` where a folder on the way is missing.
        """
        if self.is_scratch(path):
            return path
        if not path.startswith("/"):
            path = f"{self.logical(posix.getcwd())}/{path}"
        todo = [name for name in reversed(path.split("/")) if name not in ("", ".")]
        done, links = "", 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                done = done.rpartition("/")[0]
                continue
            here = f"{done}/{name}"
            target = self._target(here, path, last=not todo) if todo or follow else None
            if target is None:
                done = here
                continue
            links += 1
            if links > LINKS:
                fail(errno.ELOOP, path)
            if target.startswith("/"):
                done = ""
            todo.extend(reversed(target.split("/")))
        return self.logical(done or "/")

    def _target(self, here: str, path: str, last: bool) -> str | None:
        """Where the link at a logical path leads, or None; fails as the kernel does where a folder is needed."""
        real = self.where(here)
        found = status(real)
        if found is not None and stat.S_ISLNK(found.st_mode):
            return link(real)
        if not last and (found is None or not stat.S_ISDIR(found.st_mode)):
            fail(errno.ENOENT if found is None else errno.ENOTDIR, path)
        return None

    def logical(self, path: str) -> str:
        """The path that the program knows for one that it may have got from the kernel."""
        if path == self.upper:
            return "/"
        return path[len(self.upper) :] if path.startswith(self.upper + "/") else path

    def is_scratch(self, path: str) -> bool:
        return path.startswith(self.scratch + "/") or path == self.scratch

    def visible(self, here: str) -> bool:
        """Whether the real file system still counts at this logical path."""
        while self.hidden and here:
            if here in self.hidden:
                return False
            here = here.rpartition("/")[0]
        return True

    def where(self, here: str) -> str:
        """Where the bytes of a logical path are; the place where they would be, if there are none."""
        if not self.touched or self.is_scratch(here):
            return here
        own, visible = self.upper + here, self.visible(here)
        found = status(own)
        # A folder is in the layer as soon as a file in it is; its own attributes stay the real ones.
        if found is not None and not (visible and stat.S_ISDIR(found.st_mode) and is_folder(here)):
            return own
        return here if visible else own

    def for_reading(self, path: str, follow: bool = True) -> str:
        """The real path to read from, for a path as the program gave it."""
        return self.where(self.resolve(path, follow)) if self.touched else path

    def names(self, here: str) -> list[str]:
        """What a logical folder holds: in the file system's own order, which a program may depend on, then what is new."""
        names: list[str] = []
        if self.visible(here) and is_folder(here):
            names = posix.listdir(here)
        if not self.touched:
            return names
        own = set(posix.listdir(self.upper + here)) if is_folder(self.upper + here) else set()
        base = here.rstrip("/")
        kept = [name for name in names if name in own or f"{base}/{name}" not in self.hidden]
        return kept + sorted(own.difference(kept))

    # ------------------------------------------------------------------ changes

    def for_writing(
        self, path: str, *, keep: bool, create: bool = True, exclusive: bool = False, follow: bool = True
    ) -> str:
        """The real path to write to; ``keep`` brings the present content along.

        Raises the ``OSError`` that the real file system would have raised.
        """
        here = self.resolve(path, follow and not exclusive)
        if self.is_scratch(here):
            return here
        found = self.where(here)
        present = status(found)
        if present is None:
            if not create:
                fail(errno.ENOENT, path)
        elif exclusive:
            fail(errno.EEXIST, path)
        elif stat.S_ISDIR(present.st_mode):
            fail(errno.EISDIR, path)
        elif stat.S_ISLNK(present.st_mode):
            return found
        elif not stat.S_ISREG(present.st_mode):
            return found if stat.S_ISCHR(present.st_mode) and present.st_rdev in SINKS else "/dev/null"
        elif not posix.access(found, os.W_OK, effective_ids=True):
            fail(errno.EACCES, path)
        own = self.upper + here
        if present is None or found != own:
            self.enter(here, path, writable=present is None)
            if keep and present is not None:
                copy(found, own)
        return own

    def enter(self, here: str, path: str, writable: bool = True) -> None:
        """Make the folder of a logical path in the layer, if the program could have written there."""
        parent = here.rpartition("/")[0] or "/"
        found = self.where(parent)
        present = status(found)
        if present is None:
            fail(errno.ENOENT, path)
        if not stat.S_ISDIR(present.st_mode):
            fail(errno.ENOTDIR, path)
        if writable and not posix.access(found, os.W_OK | os.X_OK, effective_ids=True):
            fail(errno.EACCES, path)
        self.touched = True
        make_folders(self.upper + parent)

    def bring(self, here: str) -> None:
        """Copy what is at a logical path into the layer, a folder with all that it holds."""
        found, own = self.where(here), self.upper + here
        present = status(found)
        if present is not None and stat.S_ISDIR(present.st_mode):
            make_folders(own)
            for name in self.names(here):
                self.bring(f"{here}/{name}")
        elif found != own:
            target = link(found)
            if target is not None:
                posix.symlink(target, own)
            elif present is not None and stat.S_ISREG(present.st_mode):
                copy(found, own)
            else:
                fail(errno.EPERM, here)
