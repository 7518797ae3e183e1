"""What the child inherits: descriptors, buffers, shared memory. None of it may be moved or written."""

from __future__ import annotations

import importlib.util

import pytest


def test_log_file_pipe_and_socket(split):
    result = split(
        """
        log.write("child\\n")
        log.flush()
        os.write(raw, b"child")
        os.write(sending, b"x" * 100000)
        try:
            left.sendall(b"child")
        except SealError as error:
            seen["socket"] = error.message
        seen["pipe"] = os.read(receiving, 10).decode()
        seen["stdin"] = sys.stdin.read(), os.read(0, 10).decode()
        """,
        before="""
        import os, socket, sys
        from firstcause.errors import SealError
        log = open("run.log", "a")
        log.write("buffered ")
        raw = os.open("raw", os.O_WRONLY | os.O_CREAT)
        os.write(raw, b"first ")
        receiving, sending = os.pipe()
        os.write(sending, b"parent")
        left, right = socket.socketpair()
        right.setblocking(False)
        """,
        after="""
        log.write("parent")
        log.flush()
        os.write(raw, b"second")
        after["files"] = open("run.log").read(), open("raw").read()
        after["pipe"] = os.read(receiving, 100).decode()
        left.sendall(b"parent")
        after["socket"] = right.recv(100).decode()
        """,
    )
    assert result.seen == {
        "pipe": "",
        "stdin": ["", ""],
        "socket": "it uses a connection that was open before (socket.sendall)",
    }
    assert result.after == {
        "files": ["buffered parent", "first second"],
        "pipe": "parent",
        "socket": "parent",
    }


def test_readers_go_on_at_their_own_offset(split, folder):
    (folder / "lines").write_text("".join(f"{n}\n" for n in range(5000)))
    result = split(
        """
        seen["lines"] = [reader.readline(), next(reader)]
        seen["raw"] = os.read(descriptor, 2).decode(), os.lseek(descriptor, 0, os.SEEK_CUR)
        seen["deleted"] = deleted.read()
        seen["folder"] = len(os.listdir(place))
        seen["both"] = both.read(), both.write("child"), both.seek(0), both.read()
        seen["unnamed"] = unnamed.read().decode(), unnamed.write(b"child")
        seen["by name"] = open("both").read()
        """,
        before="""
        import os, tempfile
        reader = open("lines")
        reader.readline()
        descriptor = os.open("lines", os.O_RDONLY)
        os.read(descriptor, 4)
        open("deleted", "w").write("still here")
        deleted = open("deleted")
        os.remove("deleted")
        place = os.open(".", os.O_RDONLY)
        with open("both", "w") as file:
            file.write("onetwo")
        both = open("both", "r+")
        unnamed = tempfile.TemporaryFile()
        unnamed.write(b"unnamed")
        unnamed.seek(2)
        both.read(3)
        """,
        after="""
        after["lines"] = reader.readline(), os.lseek(descriptor, 0, os.SEEK_CUR)
        both.seek(0)
        after["both"] = both.read()
        after["unnamed"] = unnamed.read().decode()
        """,
    )
    assert result.seen["lines"] == ["1\n", "2\n"]
    assert result.seen["raw"] == ["2\n", 6]
    assert (result.seen["deleted"], result.seen["folder"]) == ("still here", 4)
    assert result.seen["both"] == ["two", 5, 0, "onetwochild"]
    assert result.seen["unnamed"] == ["named", 5]
    # The path leads to the same private copy.
    assert result.seen["by name"] == "onetwochild"
    assert result.after == {"lines": ["1\n", 4], "both": "onetwo", "unnamed": "named"}


def test_buffered_output_comes_once(split):
    result = split(
        """
        print("child", flush=True)
        sys.__stdout__.write("child\\n")
        old.flush()
        print("child", file=sys.stderr)
        os.write(1, b"child\\n")
        os.write(2, b"child\\n")
        ctypes.CDLL(None).puts(b"child of C")
        ctypes.CDLL(None).fflush(None)
        """,
        before="""
        import ctypes, os, sys
        old = sys.stdout
        print("before", end=" ")
        ctypes.CDLL(None).printf(b"before in C ")
        """,
        after="print('after'); sys.stdout.flush(); ctypes.CDLL(None).fflush(None)",
    )
    assert sorted(result.stdout.split()) == ["C", "after", "before", "before", "in"]
    assert result.stderr == ""


def test_closed_standard_streams_stay_closed_to_files(split):
    result = split(
        """
        with open("made", "w") as file:
            seen["number"] = file.fileno()
        """,
        before="import os; os.close(1); os.close(0)",
    )
    assert result.seen["number"] > 2


def test_a_stream_of_the_program_stays(split):
    seen = split(
        """
        print("child")
        seen["text"] = sys.stdout.text()
        """,
        before="""
        import sys
        class Tee:
            def __init__(self):
                self.parts = []
            def write(self, text):
                self.parts.append(text)
                sys.__stdout__.write(text)
            def flush(self):
                sys.__stdout__.flush()
            def text(self):
                return "".join(self.parts)
        sys.stdout = Tee()
        """,
        after="sys.stdout = sys.__stdout__",
    )
    assert seen.seen == {"text": "child\n"}
    assert seen.stdout == ""


def test_memory_that_is_shared(split):
    result = split(
        """
        mapped[:5] = b"CHILD"
        mapped.flush()
        anonymous[:5] = b"CHILD"
        stop.set()
        number.value = 9
        seen["own"] = mapped[:5].decode(), anonymous[:5].decode(), stop.is_set(), number.value
        from firstcause.sandbox import seal
        seen["mappings"] = seal.report().mappings >= 3
        """,
        before="""
        import mmap, multiprocessing
        with open("mapped", "wb") as file:
            file.write(b"first" * 2000)
        with open("mapped", "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        anonymous = mmap.mmap(-1, 10000)
        anonymous[:5] = b"first"
        stop, number = multiprocessing.Event(), multiprocessing.Value("i", 1)
        """,
        after="after['own'] = mapped[:5].decode(), anonymous[:5].decode(), stop.is_set(), number.value",
    )
    assert result.seen == {"own": ["CHILD", "CHILD", True, 9], "mappings": True}
    assert result.after == {"own": ["first", "first", False, 1]}


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_loader_workers_and_shared_tensors_live_on(split):
    """The child drops the loader; its workers must not hear of it. A shared tensor is written in the child only."""
    result = split(
        """
        torch.set_num_threads(1)
        shared.fill_(5)
        seen["shared"] = shared.tolist()
        del batches
        gc.collect()
        """,
        before="""
        import gc, torch
        from torch.utils.data import DataLoader
        shared = torch.zeros(3).share_memory_()
        batches = iter(DataLoader(range(12), batch_size=2, num_workers=1, prefetch_factor=2))
        first = next(batches)
        """,
        after="after['rest'] = [b.tolist() for b in batches]; after['shared'] = shared.tolist()",
    )
    assert result.seen == {"shared": [5.0] * 3}
    assert result.after == {"rest": [[n, n + 1] for n in range(2, 12, 2)], "shared": [0.0] * 3}


def test_an_event_loop_of_the_parent_is_left_alone(split):
    result = split(
        """
        try:
            watching.unregister(own)
        except OSError:
            seen["empty"] = watching.poll(0)
        """,
        before="""
        import os, select
        watching = select.epoll()
        own, other = os.pipe()
        watching.register(own, select.EPOLLIN)
        """,
        after="""
        os.write(other, b"x")
        after["woken"] = [descriptor for descriptor, _ in watching.poll(1)] == [own]
        """,
    )
    assert result.seen == {"empty": []}
    assert result.after == {"woken": True}
