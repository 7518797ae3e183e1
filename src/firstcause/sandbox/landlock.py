"""The kernel's half of the seal: Landlock denies what no Python code was asked about.

Writing, truncating, making, removing and renaming outside of the scratch folder, running any program, TCP, and
signals to other processes. Reading stays free. Chosen rights by version of the interface: linux/landlock.h.
"""

from __future__ import annotations

import errno
import os
import posix
import stat
import struct
from collections.abc import Sequence

from firstcause.sandbox import libc

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE = 1 << 0, 1 << 1
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
TCP_BIND_AND_CONNECT = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
SINKS = ("/dev/null", "/dev/zero", "/dev/full")
# The names of this process's own threads: CUDA does not start where it cannot set them.
THREADS = "/proc/self/task"
# A replay on an accelerator computes on it; the driver's own files are not the user's.
ACCELERATORS = ("nvidia", "kfd", "dri", "accel", "davinci", "habanalabs", "hl")


def version() -> int:
    """The version of the kernel's interface; raises ``OSError`` where there is none."""
    return libc.syscall(CREATE_RULESET, None, 0, 1)


def restrict(scratch: str) -> tuple[bool, int, str]:
    """Allow writes beneath ``scratch`` only, for this thread and all that it starts; irreversible.

    Gives whether it holds, the version of the interface, and the reason where it does not hold.
    """
    threads = len(posix.listdir("/proc/self/task"))
    if threads > 1:
        why = f"{threads - 1} other threads were running, and Landlock binds only the one that asks"
        return False, 0, f"sealed in Python only: {why}"
    try:
        abi = version()
        ruleset = _ruleset(abi, scratch)
    except OSError as error:
        missing = {
            errno.ENOSYS: "this kernel has no Landlock",
            errno.EOPNOTSUPP: "Landlock is switched off in this kernel",
        }
        why = missing.get(error.errno or 0, f"Landlock answered {error.strerror}")
        return False, 0, f"sealed in Python only: {why}"
    try:
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.syscall(RESTRICT_SELF, ruleset, 0)
    except OSError as error:
        return False, abi, f"sealed in Python only: Landlock answered {error.strerror}"
    finally:
        posix.close(ruleset)
    return True, abi, ""


def restrict_writes(paths: Sequence[str]) -> None:
    """Allow writes beneath ``paths`` only, and nothing else less than before, for this thread and all it starts.

    Raises ``OSError`` where the kernel has no Landlock.
    """
    abi = version()
    inside = WRITE_FILE | REMOVE_AND_MAKE | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0)
    attributes = struct.pack("QQQ", inside, 0, 0)
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path in paths:
            rights = inside if os.path.isdir(path) else inside & (WRITE_FILE | TRUNCATE)
            posix.close(_allow(ruleset, path, rights))
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        posix.close(ruleset)


def _ruleset(abi: int, scratch: str) -> int:
    inside = WRITE_FILE | REMOVE_AND_MAKE | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0)
    device = WRITE_FILE | (TRUNCATE if abi >= 3 else 0) | (IOCTL_DEVICE if abi >= 5 else 0)
    handled = inside | device | EXECUTE
    network = TCP_BIND_AND_CONNECT if abi >= 4 else 0
    scoped = ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0
    # Older kernels take the longer structure as long as what they do not know in it is zero.
    attributes = struct.pack("QQQ", handled, network, scoped)
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    try:
        posix.close(_allow(ruleset, scratch, inside))
        for path in (*SINKS, *accelerators()):
            if os.path.exists(path):
                posix.close(_allow(ruleset, path, device))
        # Left open: a folder of /proc that nobody holds may be forgotten, and its rule with it.
        _allow(ruleset, THREADS, device)
    except OSError:
        posix.close(ruleset)
        raise
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> int:
    beneath = posix.open(path, os.O_PATH | os.O_CLOEXEC)
    libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, beneath), 0)
    return beneath


def accelerators() -> list[str]:
    """The devices of this machine that compute, by their paths."""
    found = [f"/dev/{name}" for name in posix.listdir("/dev") if name.startswith(ACCELERATORS)]
    return [path for path in found if _is_device(path)]


def _is_device(path: str) -> bool:
    mode = posix.stat(path).st_mode
    return stat.S_ISCHR(mode) or stat.S_ISDIR(mode)
