"""System calls that Python has no name for."""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38

# A handle of our own: argument types that are set on it are not seen by the program's.
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_libc.mremap.restype = ctypes.c_void_p
_libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_FAILED = ctypes.c_void_p(-1).value
MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MREMAP_MAYMOVE, MREMAP_FIXED = 2, 0x10, 0x20, 1, 2


def prctl(option: int, value: int) -> None:
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def syscall(number: int, *arguments: int | bytes | None) -> int:
    """A system call by its number; raises ``OSError``."""
    ready = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *ready))


def map_privately(address: int, length: int, protection: int, descriptor: int, offset: int) -> None:
    """Put a copy-on-write mapping of a file over what is mapped at ``address``."""
    _placed(_libc.mmap(address, length, protection, MAP_PRIVATE | MAP_FIXED, descriptor, offset))


def copy_privately(address: int, length: int, protection: int) -> None:
    """Put a copy over what is mapped at ``address``."""
    own = _placed(_libc.mmap(None, length, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    ctypes.memmove(own, address, length)
    if protection != 3:
        _checked(_libc.mprotect(ctypes.c_void_p(own), ctypes.c_size_t(length), protection))
    _placed(_libc.mremap(own, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, address))


def monotonic() -> float:
    """Seconds of a clock that the program has not replaced by one of its own."""
    clock = (ctypes.c_long * 2)()
    _checked(_libc.clock_gettime(1, clock))
    return clock[0] + clock[1] * 1e-9


def handle(signal: int, action: bytes | None) -> bytes:
    """The kernel's present handling of a signal, opaque; replaced by ``action``, all zero being the default.

    Python's own table of handlers does not change, and this works in every thread.
    """
    before = ctypes.create_string_buffer(256)
    _checked(
        _libc.sigaction(signal, None if action is None else ctypes.create_string_buffer(action, 256), before)
    )
    return before.raw


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _placed(address: int | None) -> int:
    if address is None or address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return address
