"""No process may be started, by the kernel's word: threads may, forks and executions fail with "not permitted"."""

from __future__ import annotations

import ctypes
import platform
import struct

from firstcause.sandbox import libc

SET_MODE_FILTER = 1
ALLOW, NOT_PERMITTED, NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x00050026
LOAD, JUMP_EQUAL, JUMP_BITS, RETURN = 0x20, 0x15, 0x45, 0x06
CLONE_THREAD = 0x00010000
# By machine: the name in the kernel's audit headers, then the numbers of seccomp, clone, clone3, socket, and of what
# only starts processes.
MACHINES = {
    "x86_64": (0xC000003E, 317, 56, 435, 41, (57, 58, 59, 322)),
    "aarch64": (0xC00000B7, 277, 220, 435, 198, (221, 281)),
}
AF_UNIX = 1


def forbid_processes() -> bool:
    """Filter this process's system calls for good; False where the kernel or the machine has no such filter.

    ``clone3`` is said not to exist, since its flags lie where a filter cannot read: the C library then uses ``clone``.
    Sockets other than local ones fail as well, UDP among them.
    """
    if platform.machine() not in MACHINES:
        return False
    audit, seccomp, clone, clone3, socket, starting = MACHINES[platform.machine()]
    steps = [(LOAD, 0, 0, 4), (JUMP_EQUAL, 1, 0, audit), (RETURN, 0, 0, NOT_PERMITTED), (LOAD, 0, 0, 0)]
    for number in starting:
        steps += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, NOT_PERMITTED)]
    steps += [(JUMP_EQUAL, 0, 1, clone3), (RETURN, 0, 0, NO_SUCH_CALL)]
    steps += [(JUMP_EQUAL, 0, 4, clone), (LOAD, 0, 0, 16), (JUMP_BITS, 1, 0, CLONE_THREAD)]
    steps += [(RETURN, 0, 0, NOT_PERMITTED), (RETURN, 0, 0, ALLOW)]
    steps += [(JUMP_EQUAL, 0, 4, socket), (LOAD, 0, 0, 16), (JUMP_EQUAL, 1, 0, AF_UNIX)]
    steps += [(RETURN, 0, 0, NOT_PERMITTED), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    instructions = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(instructions))
    try:
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.syscall(seccomp, SET_MODE_FILTER, 0, program)
    except OSError:
        return False
    return True
