"""``ctypes.util.find_library`` without the processes that it starts: the linker's cache is read instead.

Packages ask it while they are imported, those of CUDA among them: a start that is sealed would end there.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from types import ModuleType

from firstcause.sandbox.writers.rebind import replace

CACHE = "/etc/ld.so.cache"
# glibc's dl-cache.h: a head of 48 bytes, entries of 24; the offsets of names count from the head.
MAGIC = b"glibc-ld.so.cache1.1"
HEAD, ENTRY = 48, struct.Struct("=iIIIQ")
# What `ldconfig -p` prints as libc6,x86-64 and so on; of other machines every library of glibc is taken.
KINDS = {"x86_64": 0x0303, "ppc64": 0x0503, "s390x": 0x0403}
GLIBC = 3


def patch(module: ModuleType) -> None:
    """Replace it in ``ctypes.util``; what stands in no cache (folders of LD_LIBRARY_PATH, of gcc) is not found."""
    replace(module, "find_library", find_library)


def find_library(name: str) -> str | None:
    """The file name of a library as the linker's cache has it, the first of several; None where it has none."""
    wanted = re.compile(rf"lib{re.escape(name)}\.\S+")
    return next((known for known in _known() if wanted.fullmatch(known)), None)


def _known() -> Iterator[str]:
    """The libraries of this machine's kind, in the order of the cache; none where there is no cache of glibc's."""
    try:
        with open(CACHE, "rb") as file:
            cache = file.read()
    except OSError:
        return
    start = cache.find(MAGIC)
    if start < 0 or len(cache) < start + HEAD:
        return
    (count,) = struct.unpack_from("=I", cache, start + len(MAGIC))
    kind = KINDS.get(os.uname().machine)
    for at in range(
        start + HEAD, min(start + HEAD + count * ENTRY.size, len(cache) - ENTRY.size), ENTRY.size
    ):
        flags, name, *_ = ENTRY.unpack_from(cache, at)
        if flags == kind if kind is not None else flags & 0xFF == GLIBC:
            yield os.fsdecode(cache[start + name : cache.index(b"\0", start + name)])
