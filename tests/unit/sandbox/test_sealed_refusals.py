"""What cannot be undone ends the replay, by name; and time does not pass."""

from __future__ import annotations

REFUSED = {
    "subprocess.run(['ls'])": ("seal-process", "it starts a process (subprocess.Popen ['ls'])"),
    "os.system('ls')": ("seal-process", "it starts a process (os.system b'ls')"),
    "os.popen('ls')": ("seal-process", "it starts a process (subprocess.Popen ['/bin/sh', '-c', 'ls'])"),
    "os.fork()": ("seal-process", "it starts a process (os.fork)"),
    "os.forkpty()": ("seal-process", "it starts a process (os.forkpty)"),
    "os.execv('/bin/ls', ['ls'])": ("seal-process", "it starts a process (os.exec ['ls'])"),
    "os.posix_spawn('/bin/ls', ['ls'], {})": ("seal-process", "it starts a process (os.posix_spawn ['ls'])"),
    "os.spawnv(os.P_WAIT, '/bin/ls', ['ls'])": ("seal-process", "it starts a process (os.fork)"),
    "fork.start()": ("seal-process", "it starts a process (of-fork of multiprocessing)"),
    "spawn.start()": ("seal-process", "it starts a process (of-spawn of multiprocessing)"),
    "resource_tracker.ensure_running()": ("seal-process", None),
    "os.kill(os.getppid(), 0)": ("seal-process", None),
    "os.killpg(0, 0)": ("seal-process", "it sends a signal (os.killpg 0, 0)"),
    "signal.pidfd_send_signal(parent, 0)": ("seal-process", "it sends a signal (signal.pidfd_send_signal)"),
    "socket.create_connection(('127.0.0.1', 9))": (
        "seal-network",
        "it looks up a host (socket.getaddrinfo 127.0.0.1)",
    ),
    "udp.connect(('127.0.0.1', 9))": (
        "seal-network",
        "it uses the network (socket.connect ('127.0.0.1', 9))",
    ),
    "udp.bind(('127.0.0.1', 0))": ("seal-network", "it uses the network (socket.bind ('127.0.0.1', 0))"),
    "udp.sendto(b'x', ('127.0.0.1', 9))": (
        "seal-network",
        "it uses the network (socket.sendto ('127.0.0.1', 9))",
    ),
    "udp.sendmsg([b'x'], [], 0, ('127.0.0.1', 9))": (
        "seal-network",
        "it uses the network (socket.sendmsg ('127.0.0.1', 9))",
    ),
    "socket.gethostbyname('localhost')": (
        "seal-network",
        "it looks up a host (socket.gethostbyname localhost)",
    ),
    "urlopen('http://localhost/x')": ("seal-network", "it uses the network (http://localhost/x)"),
}
BEFORE = """
import multiprocessing, os, signal, socket, subprocess, time
from multiprocessing import resource_tracker
from time import sleep
from urllib.request import urlopen
from firstcause.errors import FirstcauseError, SealError
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def target():
    open("ran", "w").close()
fork = multiprocessing.get_context("fork").Process(target=target, name="of-fork")
spawn = multiprocessing.get_context("spawn").Process(target=target, name="of-spawn")
"""


def test_processes_and_network(split):
    seen = split(
        f"""
        udp, parent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), os.pidfd_open(os.getppid())
        for text in {list(REFUSED)!r}:
            try:
                eval(text)
            except SealError as error:
                assert isinstance(error, FirstcauseError)
                seen[text] = error.slug, error.message
        """,
        before=BEFORE,
    ).seen
    for text, (slug, message) in REFUSED.items():
        assert text in seen, f"{text} was not refused"
        assert seen[text][0] == slug
        assert message is None or seen[text][1] == message
    assert seen["resource_tracker.ensure_running()"][1].startswith("it starts a process ([")


def test_a_refusal_that_the_program_catches_is_remembered(split):
    seen = split(
        """
        try:
            os.system("ls")
        except Exception:
            pass
        from firstcause.sandbox.refusal import refused
        seen["refused"] = [(e.slug, e.message) for e in refused()]
        """,
        before=BEFORE,
    ).seen
    assert seen == {"refused": [["seal-process", "it starts a process (os.system b'ls')"]]}


def test_what_is_still_allowed(split):
    seen = split(
        """
        import threading
        thread = threading.Thread(target=lambda: seen.update(thread=True))
        thread.start()
        thread.join()
        left, right = socket.socketpair()
        left.sendall(b"own")
        seen["own"] = right.recv(3).decode()
        seen["host"] = bool(socket.gethostname())
        seen["file"] = urlopen("file://" + os.path.abspath("a.txt")).read().decode()
        """,
        before=BEFORE,
    ).seen
    assert seen == {"thread": True, "own": "own", "host": True, "file": "alpha\n"}


def test_sleep_returns_at_once(split):
    seen = split(
        """
        start = time.monotonic()
        time.sleep(1000)
        sleep(1000)
        for wrong, kind in ((-1, ValueError), ("x", TypeError)):
            try:
                time.sleep(wrong)
            except kind:
                seen.setdefault("wrong", []).append(wrong)
        seen["soon"] = time.monotonic() - start < 1
        """,
        before=BEFORE,
    ).seen
    assert seen == {"soon": True, "wrong": [-1, "x"]}
