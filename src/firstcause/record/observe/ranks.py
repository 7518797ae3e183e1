"""One rank of a distributed program: where it stands, written into a folder of its own as it goes.

torch's flight recorders hold the collectives, DDP's own included; a thread reads them now and then, and once more at the
end. Ranks may end in C++, without a word of Python's: the fault handler's stack is kept beside it.
"""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import json
import linecache
import os
import pickle
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from firstcause.record import private, ranked
from firstcause.record.observe import elastic, exceptions

if TYPE_CHECKING:
    from firstcause.record.observe.session import Session

# gloo's, which torch 2.4 has not, and NCCL's, of builds for CUDA. Without either a rank's stack tells where it stands.
RECORDERS = ("_dump_fr_trace", "_dump_nccl_trace")
# Of what the flight recorder holds, the newest so many are written.
KEPT = 200
SECONDS = 0.5
# A rank that does not move is written as often: how long it has stood tells who waits.
REWRITE_SECONDS = 1.0
# Up to so many ranks write as often; more share what those would write, since a folder that all share takes no more renames.
TOGETHER = 64
# The thread may take this share of the time of one core.
SHARE = 0.02
DEEPEST = 40
MOST_LINES = 20
# No other thread runs meanwhile: longer than any dump takes.
UNDISTURBED = 5.0


class Rank:
    """This process as a rank: its folder, the thread that writes, and its last word.

    Made by the replaced ``init_process_group``. The session is asked for each time and never kept: what torch's modules
    hold lives longer than the program's open files, and the session holds those that a step reads.
    """

    def __init__(self, current: Callable[[], Session], rank: int, world: int) -> None:
        self.current, self.rank, self.world, self.pid = current, rank, world, os.getpid()
        session = current()
        self.folder = os.path.join(session.folder, ranked.FOLDER, str(rank))
        self.error: BaseException | None = None
        self.began = self.changed = time.time()
        self.wrote = 0.0
        self.rewrite = REWRITE_SECONDS * max(1.0, world / TOGETHER)
        self.last: tuple[Any, ...] = ()
        self.seen: Counter[str] = Counter()
        self.ended: dict[str, Any] | None = None
        self.lock = threading.Lock()
        private.make_folder(self.folder)
        if not faulthandler.is_enabled():
            path = os.path.join(self.folder, ranked.STACK)
            self.stack = open(path, "w", opener=private.opener)  # noqa: SIM115 - it must outlive this call
            faulthandler.enable(self.stack)
        self.audit: Callable[[], dict[str, Any]] | None = None
        if session.audit is not None:
            self.audit = session.audit.ranked(self.folder, sys._getframe(2), self.look)
        self.look()
        threading.Thread(target=self._watch, name="firstcause-rank", daemon=True).start()
        atexit.register(self.end)
        # A process of multiprocessing leaves without Python's own end.
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, self.end, exitpriority=100)

    @property
    def session(self) -> Session:
        return self.current()

    def _watch(self) -> None:
        pause = least = interval(self.world, self.audit is not None)
        while self.ended is None:
            time.sleep(pause)
            before = time.thread_time()
            try:
                self.look()
            except Exception:
                self.session.failed("rank")
                return
            if self.audit is None:
                pause = max(least, (time.thread_time() - before) / SHARE)

    def look(self) -> None:
        """Write where the rank stands, if it has moved since it was written last."""
        with self.lock:
            calls = _calls(self.session)
            frame = sys._current_frames().get(threading.main_thread().ident or 0)
            stack = _stack(self.session, frame)
            now = (calls[-1]["seq"], calls[-1]["group"], calls[-1]["waiting"]) if calls else ()
            place = stack[0]["line"] if stack else 0
            if stack and self.ended is None:
                self.seen[f"{stack[0]['file']}:{stack[0]['line']}"] += 1
            if (now, place) != self.last:
                self.changed = time.time()
            elif self.ended is None and self.audit is None and time.time() - self.wrote < self.rewrite:
                return
            self.last, self.wrote = (now, place), time.time()
            recorder = self.session.recorder
            facts = {
                "rank": self.rank,
                "world": self.world,
                "pid": self.pid,
                "restart": os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"),
                "began": self.began,
                "changed": self.changed,
                "time": self.wrote,
                "steps": recorder.step if recorder is not None else 0,
                "calls": calls[-KEPT:],
                "stack": stack,
                "inside": _inside(frame),
                # How often the main thread was met at each line: where a slow rank spends its time.
                "met": dict(self.seen.most_common(MOST_LINES)),
                "ended": self.ended,
                "audit": self.audit() if self.audit is not None else None,
            }
            path = os.path.join(self.folder, ranked.NOW)
            with open(path + ".new", "w", encoding="utf-8", opener=private.opener) as file:
                file.write(json.dumps(facts, default=str))
            os.replace(path + ".new", path)

    def end(self) -> None:
        """The last word: the exception that ends this process, if one does."""
        if self.ended is not None or os.getpid() != self.pid or self.session.off:
            return
        error = self.error or sys.exc_info()[1] or getattr(sys, "last_value", None)
        chain = exceptions.describe(error) if error is not None else []
        try:
            self.ended = {"time": time.time(), "exception": chain}
            self.look()
            if chain:
                elastic.tell(self.session.folder)
        except Exception:
            self.session.failed("end of rank")


def interval(world: int, watched: bool = False) -> float:
    """Seconds between two looks of a rank of so many; one that an audit watches is looked at twice as often."""
    return (SECONDS / 2 if watched else SECONDS) * max(1.0, world / TOGETHER)


def _calls(session: Session) -> list[dict[str, Any]]:
    """The collectives that the flight recorders hold, in order; frames of the program only, innermost first."""
    found = []
    for group, entries in _entries():
        found += [
            {
                "group": group + str(e["process_group"][0]),
                "seq": e["collective_seq_id"],
                "op": e["profiling_name"].rpartition(":")[2],
                "sizes": e["input_sizes"],
                "dtypes": e["input_dtypes"],
                "waiting": not e["retired"],
                "time": e["time_created_ns"] / 1e9,
                "frames": [
                    {"file": f["filename"], "line": f["line"], "function": f["name"]}
                    for f in e.get("frames", ())
                    if _own(session, f["filename"])
                ][:DEEPEST],
            }
            for e in entries[-2 * KEPT :]
            if not e["is_p2p"]
        ]
    return sorted(found, key=lambda call: float(call["time"]))


def _entries() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What each backend recorded, and what its groups are called by: a group of two backends counts in each by itself."""
    # Its stubs do not know the recorder.
    c10d: Any = importlib.import_module("torch._C._distributed_c10d")
    of_host, of_card = (
        # Our own process wrote it a moment ago: nothing foreign is unpickled.
        pickle.loads(_dump(getattr(c10d, name))).get("entries", []) if hasattr(c10d, name) else []
        for name in RECORDERS
    )
    yield ("cpu:" if of_card else ""), of_host
    yield "", of_card


def _dump(recorder: Callable[..., bytes]) -> bytes:
    """A flight recorder as it is now. Only in what torch has loaded already does it look for the frames' names.

    It asks for ``torch._inductor``, and that imports it: seconds of work, and a race with an import in the main thread.
    """
    torch = sys.modules["torch"]
    if "_inductor" in vars(torch):
        return bytes(recorder())
    if "torch._inductor" in sys.modules:
        # Its import has begun and is not over: without frames for once.
        return bytes(recorder(includeCollectives=True, includeStackTraces=False, onlyActive=False))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(UNDISTURBED)
    try:
        vars(torch)["_inductor"] = None
        return bytes(recorder())
    finally:
        if vars(torch).get("_inductor", torch) is None:
            del vars(torch)["_inductor"]
        sys.setswitchinterval(interval)


def _stack(session: Session, frame: FrameType | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < DEEPEST:
        path, line = frame.f_code.co_filename, frame.f_lineno
        if _own(session, path):
            text = linecache.getline(path, line).strip()
            found.append({"file": path, "line": line, "function": frame.f_code.co_name, "text": text})
        frame = frame.f_back
    return found


def _inside(frame: FrameType | None) -> str:
    """The function in which the thread stands, of a library as a rule: a loader's, a collective's."""
    return "" if frame is None else f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}"


_known: dict[str, bool] = {}


def _own(session: Session, path: str) -> bool:
    if path not in _known:
        finder = session.finder
        _known[path] = not path.startswith("<") and finder is not None and finder.is_project_file(path)
    return _known[path]
