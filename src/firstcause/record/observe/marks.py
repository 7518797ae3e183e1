"""A module compiled with marks: the same lines, and around each candidate body

    try:
        MARK(k, names)
        BODY
    except BaseException:
        if CAUGHT(k):                       # a replay in this sealed child, else False
            for names in AGAIN(k): BODY
        raise

so that a replay runs in the program's own frame, where closures, ``super()``, private names and globals are
the real ones. The functions are found among the builtins, never in a namespace of the program; code that is
pickled by value and run where nobody observes finds none of them and runs as if unmarked.
"""

from __future__ import annotations

import ast
import copy
import os
import warnings
from dataclasses import dataclass
from types import CodeType

from firstcause.record.observe import elsewhere, library_loops, stretches
from firstcause.record.observe.call_sites import SITES, CallMarker
from firstcause.record.observe.instrument import Instrument
from firstcause.record.observe.live import bound_names, live_in, own_nodes
from firstcause.record.observe.reach import Reach, names_called

LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# A file without any of these is left as it is.
WORDS = (b"step", b"backward", b"no_grad", b"inference_mode", b"generate", b"predict", b"torch")


@dataclass(frozen=True)
class Candidate:
    """A body that may become the unit of replay: where it stands, and the names that it reads first."""

    k: int
    path: str
    line: int
    end_line: int
    kind: str
    function: str
    names: tuple[str, ...]

    @property
    def key(self) -> str:
        """The same in every process that runs the same file."""
        return f"{self.path}:{self.line}:{self.kind}"


CANDIDATES: dict[int, Candidate] = {}


def compile_marked(
    path: str, reach: Reach, main: bool = False, library: str | None = None
) -> CodeType | None:
    """The file's code with marks, or None where nothing in it is to be marked.

    A ``main`` always has two: its first statement, and one that sees the exception that ends it. ``library`` names
    the module where the file is none of the program's.
    Raises ``OSError`` and ``SyntaxError`` as reading and compiling the plain file would.
    """
    with open(path, "rb") as file:
        source = file.read()
    experiment = os.environ.get("FIRSTCAUSE_REWRITE", "") if library is None else ""
    around = stretches.lines_in(path) if library is None else frozenset()
    if not (main or experiment or around or any(word in source for word in WORDS)):
        return None
    with warnings.catch_warnings():
        # The plain compilation by Python's own loader has shown them already.
        warnings.simplefilter("ignore")
        tree = ast.parse(source, path)
        changed = _changed(tree, path, experiment) if experiment else False
        if library not in library_loops.CALLS:
            reach.include(path)
        steps = reach.names | (library_loops.LOOPS.get(library, frozenset()) if library else frozenset())
        marker = _Marker(path, reach, steps, around)
        calls = CallMarker(path, reach, tree)
        if library is None:
            tree = calls.visit(tree)
        instrument = Instrument(reach.compiled, tree)
        tree = instrument.visit(tree)
        if library not in library_loops.CALLS:
            tree = marker.visit(tree)
        if main:
            _enclose(tree)
        elif not (marker.found or instrument.found or calls.found or changed):
            return None
        ast.fix_missing_locations(tree)
        try:
            code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        except SyntaxError:
            # "too many statically nested blocks": the plain file is within Python's limit of 20, ours is not.
            return None
    CANDIDATES.update((c.k, c) for c in marker.found)
    SITES.update((c.s, c) for c in calls.found)
    return code


def _changed(tree: ast.Module, path: str, experiment: str) -> bool:
    """Whether an experiment changes this file: ``experiment`` names what does it."""
    changed: bool = elsewhere.named(experiment)(tree, path)
    return changed


def _enclose(tree: ast.Module) -> None:
    """Around the body of ``__main__``: its beginning, and the exception that leaves it; the trace stays as it is."""
    body = tree.body
    start = 1 if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
    while start < len(body) and _is_future(body[start]):
        start += 1
    (around,) = ast.parse(
        "try:\n"
        " (lambda: 0).__builtins__.get('__fc_begin__', dict)()\n"
        "except BaseException:\n"
        " (lambda: 0).__builtins__.get('__fc_unhandled__', dict)()\n"
        " raise\n"
    ).body
    assert isinstance(around, ast.Try)
    line = body[start].lineno if start < len(body) else 1
    for made in ast.walk(around):
        if isinstance(made, (ast.stmt, ast.expr, ast.ExceptHandler)):
            made.lineno = made.end_lineno = line
            made.col_offset = made.end_col_offset = 0
    around.body += body[start:]
    tree.body[start:] = [around]


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


class _Marker(ast.NodeTransformer):
    def __init__(self, path: str, reach: Reach, steps: set[str], around: frozenset[int]) -> None:
        self.path = path
        self.reach = reach
        self.steps = steps
        self.around = around
        self.found: list[Candidate] = []
        # The main script's were numbered in the interpreter before this one.
        self._first = max(CANDIDATES, default=-1) + 1
        self._bound: list[set[str]] = []
        self._function = "<module>"

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self._bound.append(bound_names(node))
        self._mark_stretch(node)
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if node.name in self.reach.compiled:
            return node
        outer, self._function = self._function, node.name
        self._bound.append(bound_names(node))
        self._mark_stretch(node)
        plain = copy.deepcopy(node.body)
        self.generic_visit(node)
        if (
            self._steps_outside_loops(plain)
            and not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(node))
            and not stretches.is_passed_over(self.path, node.lineno)
        ):
            # A docstring stays the first statement of its function.
            start = 1 if isinstance(plain[0], ast.Expr) and isinstance(plain[0].value, ast.Constant) else 0
            if node.body[start:]:
                node.body[start:] = [
                    self._wrap(node.body[start:], plain[start:], "function", _lines(node), [])
                ]
        self._bound.pop()
        self._function = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        # Only the methods: a name bound in a class body is an attribute, not a variable of a loop.
        node.body = [self.visit(s) if isinstance(s, (*FUNCTIONS, ast.ClassDef)) else s for s in node.body]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> ast.AST:
        plain = copy.deepcopy(node.body)
        self.generic_visit(node)
        if names_called(plain) & self.steps:
            targets = (
                []
                if isinstance(node, ast.While)
                else [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
            )
            node.body = [self._wrap(node.body, plain, "loop", _lines(node), targets)]
        return node

    visit_For = visit_AsyncFor = visit_While = _loop

    def _mark_stretch(self, scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        found = stretches.stretch_in(scope, self.around, self.steps)
        if found is not None:
            body, first, last = found
            plain = copy.deepcopy(found.statements)
            lines = body[first].lineno, _lines(body[last - 1])[1]
            body[first:last] = [self._wrap(found.statements, plain, stretches.KIND, lines, [])]

    def _steps_outside_loops(self, body: list[ast.stmt]) -> bool:
        class Outside(ast.NodeTransformer):
            def drop(self, node: ast.AST) -> None:
                return None

            visit_For = visit_AsyncFor = visit_While = visit_FunctionDef = visit_AsyncFunctionDef = drop
            visit_ClassDef = visit_Lambda = drop

        rest = [s for s in (Outside().visit(copy.deepcopy(statement)) for statement in body) if s is not None]
        return bool(names_called(rest) & self.steps)

    def _wrap(
        self,
        body: list[ast.stmt],
        plain: list[ast.stmt],
        kind: str,
        lines: tuple[int, int],
        targets: list[str],
    ) -> ast.stmt:
        k = self._first + len(self.found)
        names = tuple(sorted(set(live_in(plain, self._bound[-1])) | set(targets)))
        self.found.append(Candidate(k, self.path, *lines, kind, self._function, names))
        values = f"({''.join(n + ', ' for n in names)})"
        one_by_one = "".join(f"  try: __fc_name__({n!r}, {n})\n  except NameError: pass\n" for n in names)
        (wrapped,) = ast.parse(
            f"try:\n"
            f" try: __fc_mark__({k}, {values})\n"
            f" except NameError:\n{one_by_one}"
            f"  try: __fc_named__({k})\n"
            f"  except NameError: pass\n"
            f"except BaseException:\n"
            f" if (lambda: 0).__builtins__.get('__fc_caught__', {{}}.get)({k}):\n"
            f"  try:\n"
            f"   for {values} in __fc_again__({k}): pass\n"
            f"  finally: __fc_leave__()\n"
            f" raise\n"
        ).body
        assert isinstance(wrapped, ast.Try)
        first = body[0]
        for made in ast.walk(wrapped):
            if isinstance(made, (ast.stmt, ast.expr, ast.ExceptHandler)):
                made.lineno = made.end_lineno = first.lineno
                made.col_offset = made.end_col_offset = 0
        answer = wrapped.handlers[0].body[0]
        assert isinstance(answer, ast.If)
        guarded = answer.body[0]
        assert isinstance(guarded, ast.Try)
        again = guarded.body[0]
        assert isinstance(again, ast.For)
        # A second global or nonlocal statement in the same function is a syntax error; the first one serves both.
        again.body = _without_declarations(plain) or again.body
        wrapped.body += body
        return wrapped


def _lines(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.end_lineno or statement.lineno


def _without_declarations(body: list[ast.stmt]) -> list[ast.stmt]:
    class Strip(ast.NodeTransformer):
        def strip(self, node: ast.AST) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

        visit_Global = visit_Nonlocal = strip

        def keep(self, node: ast.AST) -> ast.AST:
            # Their declarations are their own.
            return node

        visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = keep

    return [Strip().visit(s) for s in body]
