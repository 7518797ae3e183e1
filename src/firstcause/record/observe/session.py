"""What this process observes with: the run's folder, its journal, and the recorder once torch is loaded.

The functions here are what marked code and torch call. Each returns at once where nothing is to be done,
and none lets a failure of ours reach the program: it becomes an ``internal-error`` event, and the run goes
on unobserved.
"""

from __future__ import annotations

import builtins
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from firstcause.record import reserve
from firstcause.record.journal import Journal, file_size_limit

if TYPE_CHECKING:
    from firstcause.record.observe.arrival import Arrival
    from firstcause.record.observe.calls import Calls
    from firstcause.record.observe.finder import Finder
    from firstcause.record.observe.ranks import Rank
    from firstcause.record.observe.recorder import Recorder
    from firstcause.sandbox.seal import SealReport


@contextmanager
def whole_bytecode() -> Iterator[None]:
    """Write no .pyc of ours where a limit on file sizes could cut it short: every later run would fail on it."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before or file_size_limit() != float("inf")
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


class Session:
    """One observed process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.off = False
        self.imported: frozenset[str] = frozenset()
        self.main: dict[str, Any] | None = None
        self.forks = 0
        self.forking = self.in_graph = False
        self.recorder: Recorder | None = None
        self.calls: Calls | None = None
        self.arrival: Arrival | None = None
        self.finder: Finder | None = None
        self.rank: Rank | None = None
        # What watches each rank of a program that is run again for a diagnosis; None in the user's own run.
        self.audit: Any = None
        self.seal_report: SealReport | None = None
        self.result_fd = -1
        self.replay = os.environ.get("FIRSTCAUSE_REPLAY")
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal:
        """This process's journal; made at first use, so that a process with nothing to say leaves none."""
        if self._journal is None:
            rank = os.environ.get("RANK", "0")
            path = os.path.join(self.folder, f"rank-{rank if rank.isdigit() else 0}-{os.getpid()}.journal")
            self._journal = Journal(path)
            self._journal.event(
                "start",
                pid=os.getpid(),
                argv=sys.argv,
                python=sys.version.split()[0],
                executable=sys.executable,
                forks=self.forks,
            )
        return self._journal

    def keep_open(self, path: str) -> frozenset[int]:
        """Open what a sealed process must still write, before the seal."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        journal = os.open(path + ".journal", flags, 0o600)
        self._journal = Journal(path + ".journal", journal)
        self.result_fd = os.open(path, flags, 0o600)
        # 1 and 2 lead to a file of ours, from which the last line is quoted where the process ends too early.
        return frozenset((1, 2, journal, self.result_fd))

    def failed(self, where: str) -> None:
        """Write down our own failure and observe no more."""
        self.off = True
        text = traceback.format_exc(limit=-6)
        for _ in range(2):
            try:
                self.journal.event("internal-error", where=where, text=text)
                return
            except OSError as error:
                # A full disk has the room that is held for this; else (folder gone) the program goes on all the same.
                if error.errno not in reserve.FULL or not reserve.give(self.folder):
                    return

    def captured(self) -> None:
        """A step is captured into a graph of CUDA's, which repeats it without a word."""
        if not self.in_graph:
            self.in_graph = True
            text = "the optimizer's step is captured into a CUDA graph: its repetitions are not observed"
            self.journal.event("note", text=text)

    def ready(self) -> Recorder | None:
        """The recorder, made at the first call after torch is loaded; None while there is nothing to record."""
        if self.recorder is None and not self.off and "torch" in sys.modules:
            try:
                with whole_bytecode():
                    from firstcause.record.observe.around import recorder

                    self.recorder = recorder(self)
            except Exception:
                self.failed("recorder")
        return None if self.off else self.recorder

    def watching(self) -> Calls | None:
        """What watches the calls of models, made at the first of them; None where nothing is to be watched."""
        if self.calls is None and not self.off and "torch" in sys.modules:
            try:
                with whole_bytecode():
                    from firstcause.record.observe.calls import Calls

                    self.calls = Calls(self)
            except Exception:
                self.failed("calls")
        return None if self.off else self.calls


_session: Session | None = None


def current() -> Session:
    """The session of this process; raises ``RuntimeError`` before ``start``."""
    if _session is None:
        raise RuntimeError("no session was started")
    return _session


def start(folder: str) -> Session:
    """Make the session and put the marks' functions where compiled code finds them without a name of its own."""
    global _session
    _session = Session(folder)
    loops = (begin, unhandled, mark, name, named, loss, zeroed, drawn, given, caught, again, leave)
    for function in (*loops, callee, given_to, output, raised):
        setattr(builtins, f"__fc_{function.__name__}__", function)
    return _session


def forked() -> None:
    """After a fork of the program's: forget the parent's journal and recorder; a child that steps is armed anew."""
    if _session is not None and not _session.off and not _session.forking:
        _session._journal = None
        _session.recorder = None
        _session.calls = None
        _session.forks += 1


def _compiling() -> bool:
    """Whether what runs now is being compiled, or captured into a graph of CUDA's, of which nothing of ours may be a part."""
    # While torch itself is loaded, it has no compiler yet.
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return compiler is None or compiler.is_compiling() or _capturing()


def _capturing() -> bool:
    cuda = sys.modules.get("torch.cuda")
    return bool(getattr(cuda, "_initialized", False)) and bool(cuda.is_current_stream_capturing())  # type: ignore[union-attr]


def begin() -> None:
    """The first statement of a marked ``__main__``."""
    from firstcause.record.observe import mainscript

    session = current()
    try:
        mainscript.begin(session.main, sys._getframe(1).f_globals, session)
        plan = os.environ.get("FIRSTCAUSE_WATCH")
        if plan and session.replay:
            from firstcause.record.observe import elsewhere

            # A sealed process only: the line trace that the command line named.
            start_watch = elsewhere.named(os.environ["FIRSTCAUSE_DEEP"])
            start_watch(plan, session.result_fd, sys._getframe(1))
    except Exception:
        session.failed("the first statement")


def unhandled() -> None:
    """An exception leaves ``__main__``; it goes on as it is."""
    error = sys.exc_info()[1]
    if error is not None and not isinstance(error, SystemExit):
        ended_by(error)


def ended_by(error: BaseException) -> None:
    """This exception ends the program, or what a runner of tests runs as one."""
    from firstcause.record.observe import exceptions

    session = current()
    if session.off:
        return
    try:
        session.journal.event("unhandled", exception=exceptions.describe(error))
        if session.rank is not None:
            session.rank.error = error
        if session.recorder is not None and session.recorder.replay is not None:
            session.recorder.replay.unhandled(error)
        if isinstance(error, Exception) and "torch.nn.modules.module" in sys.modules:
            from firstcause.record.observe.recall import recall

            if session.calls is not None:
                session.calls.late(error)
            recall(session, error)
    except Exception:
        session.failed("the exception that ended the program")


def not_met(error: BaseException) -> None:
    """A test says by this exception that something is not as it expects."""
    from firstcause.record.observe import exceptions

    session = current()
    if session.off:
        return
    try:
        session.journal.event("not-met", exception=exceptions.describe(error))
    except Exception:
        session.failed("what a test did not find")


def mark(k: int, values: tuple[Any, ...]) -> None:
    """The top of candidate ``k``, with the values of its names."""
    if _compiling():
        return
    recorder = current().ready()
    if recorder is not None:
        recorder.mark(k, values, sys._getframe(1))


def name(label: str, value: Any) -> None:
    """One name of the candidate whose mark follows, where not all of its names are bound."""
    recorder = current().ready()
    if recorder is not None:
        recorder.name(label, value)


def named(k: int) -> None:
    """The mark of candidate ``k`` after its bound names were given one by one."""
    if not _compiling():
        recorder = current().ready()
        if recorder is not None:
            recorder.named(k, sys._getframe(1))


def loss(value: Any) -> Any:
    """What ``backward`` is about to be called on; handed back as it is."""
    if not _compiling():
        recorder = current().ready()
        if recorder is not None:
            recorder.loss(value)
    return value


def zeroed(holder: Any = None) -> None:
    """The program clears the gradients of ``holder`` here."""
    if not _compiling():
        recorder = current().ready()
        if recorder is not None:
            recorder.zeroed(holder)


def drawn(value: Any) -> Any:
    """What ``next`` gave inside a candidate; handed back as it is."""
    recorder = current().ready()
    if recorder is not None:
        recorder.drawn(value)
    return value


def given() -> Any:
    """In a replay: a tuple with what ``next`` gave then, or an empty one when nothing is left."""
    recorder = current().recorder
    return recorder.given() if recorder is not None else ()


def caught(k: int) -> bool:
    """Whether the exception in flight is to be answered with a replay of candidate ``k`` in this process."""
    recorder = current().recorder
    return (
        recorder is not None and not current().off and recorder.caught(k, sys.exc_info()[1], sys._getframe(1))
    )


def again(k: int) -> Iterator[tuple[Any, ...]]:
    """In a replay: the values of the names, once for each pass of the window."""
    recorder = current().recorder
    assert recorder is not None
    return recorder.again(k)


def leave() -> None:
    """In a replay: the second copy of the body has ended, one way or another; the process ends here."""
    recorder = current().recorder
    assert recorder is not None
    recorder.leave(sys.exc_info()[1])


def callee(s: int, function: Any) -> Any:
    """What call site ``s`` is about to call; handed back as it is."""
    if not _compiling():
        calls = current().watching()
        if calls is not None:
            calls.begin(s, function, sys._getframe(1))
    return function


def given_to(key: int | str, value: Any) -> Any:
    """An argument of the call that was begun last, by its place or name."""
    session = current()
    if session.calls is None or _compiling():
        return value
    if key == "*" and type(value) not in (tuple, list):
        # What can be walked through only once is walked through here.
        value = tuple(value)
    if not session.off:
        session.calls.given(key, value)
    return value


def output(value: Any) -> Any:
    """What the call has given; handed back as it is."""
    session = current()
    if session.calls is not None and not session.off and not _compiling():
        session.calls.end(value)
    return value


def raised(s: int) -> None:
    """An exception leaves the statement of call site ``s``; it goes on as it is."""
    session = current()
    if session.calls is not None and not session.off:
        session.calls.raised(s, sys.exc_info()[1], sys._getframe(1))


def before_step(optimizer: Any, args: Any, kwargs: Any) -> Any:
    """torch's hook before every optimizer step; gives back its arguments where a closure is to be checked."""
    recorder = current().ready()
    if recorder is None or _compiling():
        if recorder is not None and _capturing():
            current().captured()
        return None
    return recorder.before_step(optimizer, args, kwargs)
