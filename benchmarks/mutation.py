"""Change the case room in one place at a time and see whether its tests notice.

python benchmarks/mutation.py [--sample N] [--seed S] [--module fold …] [-o benchmarks/results/mutation-case.json]

A mutant is one changed operator, constant, condition, returned value or left-out statement in ``src/firstcause/case``.
Each runs in a fork of this process, in which the tests are imported but the case room is not, against the tests in
``tests/unit/case`` that stay in one process; what survives these meets the state machine too.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
CASE = ROOT / "src" / "firstcause" / "case"
TESTS = ROOT / "tests" / "unit" / "case"
FAST = (
    "case",
    "strikes",
    "weighing",
    "symptoms",
    "watching",
    "classes",
    "precedents",
    "migrating",
    "history",
)
# The tests that speak of a module most, which end most of its mutants.
FIRST = {
    "approach": "strikes",
    "classes": "classes",
    "closing": "precedents",
    "event": "history",
    "history": "history",
    "migrating": "migrating",
    "questions": "symptoms",
    "strikeout": "weighing",
    "symptoms": "symptoms",
    "watching": "watching",
    "weighing": "weighing",
}
MACHINE = "machine"
# These start processes of their own, which would import the room as it is.
APART = ("killed", "restored_by_another", "half_way", "many_writers")
LIMIT_SECONDS = 120

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


@dataclass(frozen=True)
class Mutant:
    """A module, the line and the change, and what became of it."""

    module: str
    line: int
    change: str
    outcome: str = ""
    seconds: float = 0.0


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Callable[[ast.AST], None]]]:
    """Each node that can be changed, what the change is in words, and how to make it in a copy of the node."""
    skipped = {id(n) for f in ast.walk(tree) for part in _not_run(f) for n in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            new = SWAPS[type(node.ops[0])]
            yield (
                node,
                f"{_name(node.ops[0])} -> {new.__name__}",
                lambda n, new=new: n.ops.__setitem__(0, new()),
            )
        elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in SWAPS:
            new = SWAPS[type(node.op)]
            yield node, f"{_name(node.op)} -> {new.__name__}", lambda n, new=new: setattr(n, "op", new())
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield node, f"if {ast.unparse(node.test)} -> if not", _negate
        elif isinstance(node, ast.comprehension) and node.ifs:
            yield node, f"filter {ast.unparse(node.ifs[0])} left out", lambda n: n.ifs.clear()
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, f"{node.value} -> {not node.value}", lambda n: setattr(n, "value", not n.value)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield node, f"{node.value} -> {node.value + 1}", lambda n: setattr(n, "value", n.value + 1)
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield (
                node,
                f"return {ast.unparse(node.value)[:60]} -> None",
                lambda n: setattr(n, "value", ast.Constant(None)),
            )
        elif isinstance(node, (ast.Raise, ast.Expr)) and not isinstance(
            getattr(node, "value", None), ast.Constant
        ):
            yield node, f"{ast.unparse(node)[:70]} left out", _drop


def _not_run(node: ast.AST) -> Iterator[ast.AST]:
    """Annotations and what is checked by types alone."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (node.args, *([node.returns] if node.returns else []))
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    if isinstance(node, ast.Assert):
        yield node
    if isinstance(node, ast.Assign) and any(
        getattr(t, "id", "") in ("__all__", "Outcome") for t in node.targets
    ):
        yield node


def _name(node: ast.AST) -> str:
    return type(node).__name__


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _negate(node: ast.AST) -> None:
    assert isinstance(node, (ast.If, ast.IfExp))
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _drop(node: ast.AST) -> None:
    node.__class__ = ast.Pass  # type: ignore[assignment]


def mutants(module: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """Every mutant of a module of the case room, with its tree."""
    tree = ast.parse((CASE / f"{module}.py").read_text(encoding="utf-8"))
    order = {id(node): i for i, node in enumerate(ast.walk(tree))}
    for node, words, change in places(tree):
        changed = copy.deepcopy(tree)
        twin = next(n for i, n in enumerate(ast.walk(changed)) if i == order[id(node)])
        change(twin)
        yield (
            Mutant(
                module, getattr(node, "lineno", getattr(getattr(node, "target", None), "lineno", 0)), words
            ),
            ast.fix_missing_locations(changed),
        )


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module in its changed form."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name, self.tree = name, tree

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(
            name, CASE / f"{name.rpartition('.')[2]}.py", loader=self
        )  # type: ignore[arg-type]

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, module.__spec__.origin, "exec"), module.__dict__)  # type: ignore[union-attr, arg-type]


def survives(module: str, tree: ast.Module, tests: tuple[str, ...]) -> str:
    """Run the tests in a fork with this module changed: killed, survived or timeout."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        signal.alarm(LIMIT_SECONDS)
        sys.meta_path.insert(0, Mutated(f"firstcause.case.{module}", tree))  # type: ignore[arg-type]
        import pytest

        leave = " and ".join(f"not {word}" for word in APART)
        paths = [str(TESTS / f"test_{name}.py") for name in tests]
        try:
            options = ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={_scratch()}", "-k", leave]
            code = int(pytest.main([*options, *paths]))
        except BaseException:  # noqa: BLE001
            code = 1
        os._exit(0 if code == 0 else 1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) == signal.SIGALRM else "killed"
    return "survived" if os.WEXITSTATUS(status) == 0 else "killed"


def _scratch() -> str:
    """In memory where there is such a place: each event of a case is synced to the disk."""
    return (
        f"/dev/shm/mutation-{os.getppid()}" if os.path.isdir("/dev/shm") else f"/tmp/mutation-{os.getppid()}"
    )


def tests_for(module: str) -> tuple[str, ...]:
    """The tests in the order in which they are likely to notice a change of this module."""
    first = FIRST.get(module, FAST[0])
    if first == "history":
        return ("history", "case", "migrating")
    return (first, *(name for name in FAST if name not in (first, "history")))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sample", type=int, default=0, metavar="N", help="only N of them, drawn by the seed"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", action="append", help="only this module of the case room")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    parser.add_argument("--without-machine", action="store_true", help="leave the state machine out")
    parser.add_argument("-o", "--output", type=Path, help="write the outcomes as JSON")
    args = parser.parse_args()
    sys.path.insert(0, str(TESTS.parent))
    # What every mutant needs and none changes, imported once.
    import hypothesis
    import hypothesis.stateful  # noqa: F401
    import pytest  # noqa: F401

    import firstcause.diagnose.answer
    import firstcause.diagnose.pipeline
    import firstcause.fix.patch  # noqa: F401

    assert not any(name.startswith("firstcause.case") for name in sys.modules)
    names = args.module or sorted(p.stem for p in CASE.glob("*.py") if p.stem not in ("__init__", "probing"))
    every = [one for name in names for one in mutants(name)]
    chosen = (
        every if not args.sample else random.Random(args.seed).sample(every, min(args.sample, len(every)))
    )
    began, done = time.monotonic(), []
    assert survives("event", ast.parse((CASE / "event.py").read_text()), FAST) == "survived", (
        "the tests fail without a mutant"
    )
    for mutant, tree in chosen:
        if time.monotonic() - began > args.seconds:
            break
        start = time.monotonic()
        outcome = survives(mutant.module, tree, tests_for(mutant.module))
        if outcome == "survived" and not args.without_machine:
            outcome = survives(mutant.module, tree, (MACHINE,))
        done.append(
            Mutant(mutant.module, mutant.line, mutant.change, outcome, round(time.monotonic() - start, 2))
        )
        if outcome == "survived":
            print(f"survived  {mutant.module}.py:{mutant.line}  {mutant.change}", flush=True)
        if args.output:
            result = {"mutants": len(every), "seed": args.seed, "tried": [asdict(m) for m in done]}
            args.output.write_text(json.dumps(result, indent=1) + "\n")
    left = sum(m.outcome == "survived" for m in done)
    print(f"{len(done)} of {len(every)} mutants tried: {len(done) - left} noticed, {left} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
