"""Native code that asks nobody: the kernel denies it."""

from __future__ import annotations

import pytest

from firstcause.sandbox import landlock


def landlock_version() -> int:
    try:
        return landlock.version()
    except OSError:
        return 0


pytestmark = pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
BEFORE = """
import ctypes, os, posix, socket
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
port = listening.getsockname()[1]
"""


def test_native_writes_are_denied(split):
    seen = split(
        """
        libc = ctypes.CDLL(None, use_errno=True)
        def tried(name, *arguments):
            ctypes.set_errno(0)
            result = getattr(libc, name)(*arguments)
            seen[name] = [result, errno.errorcode.get(ctypes.get_errno())]
            return result
        tried("open", b"a.txt", os.O_WRONLY)
        tried("creat", b"made", 0o644)
        tried("unlink", b"a.txt")
        tried("rename", b"a.txt", b"b.txt")
        tried("mkdir", b"made", 0o755)
        tried("rmdir", b"data/deep")
        tried("symlink", b"a.txt", b"made")
        tried("link", b"a.txt", b"made")
        tried("truncate", b"a.txt", 0)
        tried("system", b"echo x > made")
        descriptor = tried("open", (scratch_of() + "/native").encode(), os.O_WRONLY | os.O_CREAT, 0o644)
        seen["inside"] = libc.write(descriptor, b"x", 1)
        # CUDA names its threads, and does not start where it cannot.
        name = f"/proc/self/task/{os.getpid()}/comm".encode()
        seen["thread"] = libc.write(libc.open(name, os.O_WRONLY | os.O_TRUNC), b"renamed", 7)
        seen["read"] = os.read(libc.open(b"a.txt", os.O_RDONLY), 10).decode()
        """,
        before=BEFORE
        + """
import errno
def scratch_of():
    from firstcause.sandbox.writers import layer
    return layer.current().scratch
""",
    ).seen
    inside = seen.pop("inside")
    assert seen.pop("read") == "alpha\n"
    assert (inside, seen.pop("open")[0] > 2, seen.pop("thread")) == (1, True, 7)
    # A shell cannot be started: its exit status is 127.
    assert seen.pop("system")[0] >> 8 == 127
    # Some kernels answer a link across folders with EXDEV.
    assert seen.pop("link") in ([-1, "EACCES"], [-1, "EXDEV"])
    assert len(seen) == 7
    assert all(answer == [-1, "EACCES"] for answer in seen.values())


def test_what_python_keeps_for_itself_is_denied(split):
    """``posix`` is not patched; the audit hook refuses its calls, and the kernel those that raise no event."""
    seen = split(
        """
        from firstcause.errors import SealError
        for name, way in (("open", lambda: posix.open("a.txt", os.O_RDWR)), ("mkfifo", lambda: posix.mkfifo("made"))):
            try:
                way()
            except (SealError, PermissionError) as error:
                seen[name] = type(error).__name__
        """,
        before=BEFORE,
    ).seen
    assert seen == {"open": "SealError", "mkfifo": "PermissionError"}


@pytest.mark.skipif(landlock_version() < 6, reason="Landlock of this kernel knows neither TCP nor signals")
def test_native_tcp_and_signals_are_denied(split):
    result = split(
        """
        libc = ctypes.CDLL(None, use_errno=True)
        address = port.to_bytes(2, "big") + socket.inet_aton("127.0.0.1") + bytes(8)
        address = (2).to_bytes(2, "little") + address
        descriptor = libc.socket(2, 1, 0)
        seen["connect"] = libc.connect(descriptor, address, len(address)), ctypes.get_errno()
        seen["kill"] = libc.kill(os.getppid(), 15), ctypes.get_errno()
        """,
        before=BEFORE,
        after="after['alive'] = True",
    )
    assert result.seen == {"connect": [-1, 13], "kill": [-1, 1]}
    assert result.after == {"alive": True}


def test_the_report(split):
    seen = split(
        """
        import dataclasses
        from firstcause.sandbox import seal
        from firstcause.schema import to_plain
        seen["report"] = to_plain(seal.report())
        seen["again"] = seal.seal("/elsewhere") is seal.report()
        """,
    ).seen
    assert seen["again"]
    assert seen["report"] == {
        "kernel": True,
        "abi": landlock_version(),
        "reason": "",
        "closed": seen["report"]["closed"],
        "mappings": 0,
    }
    assert seen["report"]["closed"] >= 4
