"""Change the case room in one place at a time and see whether its tests notice.

python benchmarks/mutation.py -o benchmarks/results/mutation-case.json [--module fold …] [--again survived] [--longest S]

All is done in a copy of the package and its tests, in memory where there is such a place. Once, every test tells which
lines of the room it runs, in this process or in those that it starts. Then each mutant meets, in a fork, the tests that
run its line, quick ones first, until one fails: a change in a function takes the place of its code, a change of what
runs on import is imported anew. What the output file knows already is not tried again.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import gc
import hashlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from mutants import Mutant, Planned, mutants

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 120  # of a mutant, on the clock: for one that waits
CPU_SECONDS = 5  # of a test, and ten times what it took: for one that never comes to an end
MEMORY = 8 << 30
WALKS = 4  # through the state machine
BY_CHANCE = ("test_killed.py",)  # kills at moments that are never the same
# Put before the room itself while the tests tell what they run: each new line goes to a file at once, so that a
# process that is killed has told as well. What it uses is bound here, as tests put their own in place of it.
TELLING = """
import os as _os, sys as _sys
def _telling(environ=_os.environ._data, write=_os.write, open=_os.open, close=_os.close):
    seen = set()
    def line(frame, event, arg):
        name = environ.get(b"MUTATION_SEEN")
        where = (name, frame.f_code.co_filename, frame.f_lineno)
        if name and where not in seen:
            seen.add(where)
            try:
                file = open(name, _os.O_WRONLY | _os.O_CREAT | _os.O_APPEND)
                write(file, f"{where[1].rpartition('/')[2][:-3]} {where[2]}\\n".encode())
                close(file)
            except OSError:
                pass  # a test of a full disk
        return line
    return lambda frame, event, arg: line(frame, event, arg) if HERE in frame.f_code.co_filename else None
_sys.settrace(_telling())
"""


@dataclass(frozen=True)
class Test:
    """A test, what it took, and the lines of the room that it runs after the room is imported."""

    id: str
    seconds: float
    lines: frozenset[tuple[str, int]]


class Room:
    """The copy of the package and of its tests in which the mutants live."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.case = folder / "src" / "firstcause" / "case"
        self.tests = folder / "tests" / "unit" / "case"
        left_out = shutil.ignore_patterns("__pycache__", ".*")
        for name in ("src", "tests/unit/case"):
            shutil.copytree(ROOT / name, folder / name, ignore=left_out)
        shutil.copy2(ROOT / "pyproject.toml", folder)
        sys.path.insert(0, str(folder / "src"))
        os.environ["PYTHONPATH"] = str(folder / "src")
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def plans(self) -> list[Planned]:
        """Every mutant; what writes the probes is tried out where the probes run."""
        own = sorted(p for p in self.case.glob("*.py") if p.stem not in ("__init__", "probing"))
        return [plan for path in own for plan in mutants(path)]

    @contextlib.contextmanager
    def with_text(self, module: str, text: str) -> Iterator[None]:
        """A module with another text; its compiled form stays that of the original."""
        path = self.case / f"{module}.py"
        kept = path.with_suffix(".kept")
        os.replace(path, kept)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (0, 0))
        try:
            yield
        finally:
            os.replace(kept, path)


class Telling:
    """Makes each test tell the lines that it runs, and keeps what it took of the processor."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        self.before = 0.0

    def begin(self, name: str) -> None:
        os.environ["MUTATION_SEEN"] = str(self.folder / hashlib.sha256(name.encode()).hexdigest())
        self.before = sum(os.times()[:4])

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        shorten(items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.begin(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = sum(os.times()[:4]) - self.before
        (self.folder / "seconds").write_text(json.dumps(self.seconds))


class Chosen:
    """Leaves only these tests, in this order, ends one that takes far more than it did, and names what failed.

    With ``serve`` they are only collected, and handed over to it.
    """

    def __init__(self, tests: list[Test], said: Path, serve: Callable[[Any], None] | None = None) -> None:
        self.tests = {test.id: test for test in tests}
        self.said = said
        self.serve = serve

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        known = {item.nodeid: item for item in items}
        items[:] = [known[name] for name in self.tests if name in known]
        shorten(items)

    def pytest_runtestloop(self, session: Any) -> bool | None:
        if self.serve is None:
            return None
        self.serve(session)
        return True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.said.write_text(nodeid)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS + 10 * self.tests[nodeid].seconds)


def shorten(items: list[Any]) -> None:
    """A few walks through the state machine instead of many: a mutant that survives meets them all."""
    for item in items:
        if (own := getattr(getattr(item, "cls", None), "settings", None)) is not None:
            item.cls.settings = type(own)(own, max_examples=WALKS)


def pytest_of(room: Room, options: list[str], plugin: object) -> bool:
    """Whether these tests pass, in this process."""
    import pytest
    from hypothesis import Phase, settings

    # A mutant needs one example that fails, not the smallest.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", database=None, derandomize=True, phases=phases)
    settings.load_profile("mutants")
    os.chdir(room.folder)
    mine = ["-xq", "-p", "no:cacheprovider", f"--basetemp={room.folder / 'scratch'}"]
    return int(pytest.main([*mine, *options], plugins=[plugin])) == 0


def forked(room: Room, passes: Callable[[], bool], limit: float = SECONDS) -> str:
    """Whether something passes in a fork: survived, killed, or timeout."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        out = os.open(room.folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for fd in (1, 2):
            os.dup2(out, fd)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        passed = False
        try:
            passed = passes()
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        os._exit(0 if passed else 1)
    ended = os.pidfd_open(child)
    in_time = bool(select.select([ended], [], [], limit)[0])
    os.close(ended)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "survived" if status == 0 else "killed" if in_time and status != -signal.SIGPROF else "timeout"


def tell(room: Room, seen: Path) -> None:
    """Run every quick test once, and write into ``seen`` what each of them runs and takes."""
    seen.mkdir(exist_ok=True)
    plugin = Telling(seen)
    plugin.begin("import")
    init = (room.case / "__init__.py").read_text(encoding="utf-8")
    with room.with_text("__init__", init + TELLING.replace("HERE", repr(str(room.case)))):
        left_out = [f"--ignore={room.tests / name}" for name in BY_CHANCE]
        options = [str(room.tests), "-m", "not slow", *left_out]
        outcome = forked(room, lambda: pytest_of(room, options, plugin), 10 * SECONDS)
    if outcome != "survived":
        raise SystemExit(f"{(room.folder / 'out').read_text()}\nthe tests do not pass without a mutant")
    del os.environ["MUTATION_SEEN"]


def tests_of(room: Room, seen: Path) -> list[Test]:
    """Every quick test with what it takes and runs, the quickest first."""
    if not (seen / "seconds").exists():
        tell(room, seen)
    lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for path in seen.iterdir():
        if path.name != "seconds":
            for line in path.read_text().splitlines():
                module, _, number = line.partition(" ")
                lines[path.name].add((module, int(number)))
    imported = lines[hashlib.sha256(b"import").hexdigest()]
    seconds = json.loads((seen / "seconds").read_text())
    tests = [
        Test(name, took, frozenset(lines[hashlib.sha256(name.encode()).hexdigest()] - imported))
        for name, took in seconds.items()
    ]
    return sorted(tests, key=lambda test: test.seconds)


def chosen(plan: Planned, tests: list[Test]) -> list[Test]:
    """The tests that run a mutant's lines; all of them where these run on import, as each test imports the room."""
    if plan.lines is None:
        return tests
    wanted = {(plan.mutant.module, line) for line in plan.lines}
    return [test for test in tests if test.lines & wanted]


class Trial:
    """The mutants that are due, and what became of each."""

    def __init__(self, room: Room, tests: list[Test], args: argparse.Namespace) -> None:
        self.room, self.tests, self.args = room, tests, args
        self.plans = room.plans()
        self.said = room.folder / "said"
        self.until = time.monotonic() + args.seconds
        self.done: dict[str, Mutant] = {}
        self.read()

    def read(self) -> None:
        if self.args.output.exists():
            stored = [Mutant(**plain) for plain in json.loads(self.args.output.read_text())["tried"]]
            present = {plan.mutant.id for plan in self.plans}
            self.done = {m.id: m for m in stored if m.id in present}

    def write(self) -> None:
        tried = [asdict(self.done[p.mutant.id]) for p in self.plans if p.mutant.id in self.done]
        text = json.dumps({"mutants": len(self.plans), "tried": tried}, indent=1)
        self.args.output.write_text(text + "\n")

    def due(self, on_import: bool) -> Iterator[Planned]:
        for plan in self.plans:
            known = self.done.get(plan.mutant.id)
            wanted = not self.args.module or plan.mutant.module in self.args.module
            wanted = wanted and (known is None or known.outcome in self.args.again)
            if wanted and (plan.lines is None) is on_import and time.monotonic() < self.until:
                yield plan

    def import_anew(self) -> None:
        """Try what runs on import; the room must not be imported yet."""
        for plan in self.due(on_import=True):
            mine = chosen(plan, self.tests)
            files = list(dict.fromkeys(test.id.partition("::")[0] for test in mine))
            plugin = Chosen(mine, self.said)
            self.keep(plan, functools.partial(pytest_of, self.room, ["--tb=no", *files], plugin))

    def serve(self, session: Any) -> None:
        """Try what lies in functions, with the tests collected once and the room imported once."""
        items = {item.nodeid: item for item in session.items}
        live: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                code = one.__code__
                live[code.co_filename, code.co_name, code.co_firstlineno].append(one)
        gc.freeze()

        def passes(plan: Planned, mine: list[Any]) -> bool:
            path = str(self.room.case / f"{plan.mutant.module}.py")
            put_in_place(compile(plan.tree(), path, "exec"), live)
            for item, following in zip(mine, [*mine[1:], None], strict=True):
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    return False
            return True

        for plan in self.due(on_import=False):
            if mine := [items[test.id] for test in chosen(plan, self.tests) if test.id in items]:
                self.keep(plan, functools.partial(passes, plan, mine))
            else:
                self.done[plan.mutant.id] = replace(plan.mutant, outcome="not run")
                self.write()

    def keep(self, plan: Planned, passes: Callable[[], bool]) -> None:
        start = time.monotonic()
        self.said.write_text("")
        with self.room.with_text(plan.mutant.module, ast.unparse(plan.tree())):
            outcome = forked(self.room, passes)
        by = "" if outcome == "survived" else self.said.read_text().rpartition("/")[2] or "import"
        took = round(time.monotonic() - start, 2)
        result = replace(plan.mutant, outcome=outcome, by=by, seconds=took)
        self.done[result.id] = result
        if outcome == "survived":
            print(
                f"survived  {result.module}.py:{result.line} {result.function}: {result.change}", flush=True
            )
        self.write()


def put_in_place(code: CodeType, live: dict[tuple[str, str, int], list[FunctionType]]) -> None:
    """Give the functions of a module, wherever they are held, the code that they have in its changed form."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            for function in live.get((inner.co_filename, inner.co_name, inner.co_firstlineno), ()):
                if function.__code__.co_freevars == inner.co_freevars:
                    function.__code__ = inner
            put_in_place(inner, live)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", action="append", help="only this module of the case room")
    parser.add_argument("--again", action="append", default=[], metavar="OUTCOME", help="try these again")
    parser.add_argument(
        "--longest", type=float, default=3.0, metavar="S", help="leave out tests that take longer (3)"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        help="the outcomes as JSON, taken up again where it exists",
    )
    parser.add_argument("--seen", type=Path, help="keep here what each test runs, or take it from there")
    args = parser.parse_args()
    args.output = args.output.resolve()
    args.seen = args.seen and args.seen.resolve()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="mutation-", dir=memory) as folder:
        room = Room(Path(folder))
        # What every mutant needs and none changes, imported once.

        import firstcause.diagnose.pipeline
        import firstcause.fix.patch  # noqa: F401

        if any(name.startswith("firstcause.case") for name in sys.modules):
            raise SystemExit("the case room is imported already: no mutant would be seen")
        # A fork then copies only what it writes itself.
        gc.disable()
        gc.freeze()
        tests = tests_of(room, args.seen or room.folder / "seen")
        tests = [test for test in tests if test.seconds <= args.longest]
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        trial = Trial(room, tests, args)
        print(f"{len(trial.plans)} mutants, {len(tests)} tests", flush=True)
        child = os.fork()
        if child == 0:
            pytest_of(room, ["-s", str(room.tests)], Chosen(tests, trial.said, trial.serve))
            os._exit(0)
        os.waitpid(child, 0)
        trial.read()
        trial.import_anew()
    count = Counter(mutant.outcome for mutant in trial.done.values())
    print(f"{len(trial.done)} of {len(trial.plans)} mutants tried: {dict(count)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
