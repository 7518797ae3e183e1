"""Where the program calls a model without training it: the call expression and its statement are marked.

    score = model(ids, mask=m)

becomes, on the same line and with the same columns,

    try: score = OUTPUT(CALLEE(s, model)(GIVEN(0, ids), mask=GIVEN("mask", m)))
    except BaseException:
        RAISED(s)
        raise

where each of the four hands on what it is given. No frame of ours stands in a traceback, since the program itself
makes the call. Whether what is called is a model is asked when it runs, so the choice here may be generous.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from firstcause.record.observe.instrument import passed
from firstcause.record.observe.model_names import last_name
from firstcause.record.observe.reach import Reach, names_called

# Contexts in which nothing is trained.
QUIET = frozenset({"no_grad", "inference_mode"})
# Methods by which models are asked, whatever they are called themselves.
ASKING = frozenset(
    {"generate", "predict", "infer", "transcribe", "encode", "decode", "sample", "classify", "embed"}
)
TRAINING = frozenset({"backward", "step", "training_step"})
# Called by what the program may compile, or before there is a model.
NEVER = frozenset({"forward", "__init__", "__call__", "configure_optimizers"})
LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True)
class CallSite:
    """A statement that calls a model: where it stands and in which function."""

    s: int
    path: str
    line: int
    end_line: int
    function: str

    @property
    def key(self) -> str:
        """The same in every process that runs the same file."""
        return f"{self.path}:{self.line}:call"


SITES: dict[int, CallSite] = {}


class CallMarker(ast.NodeTransformer):
    """Marks the calls of a module's tree; ``found`` lists the statements that hold one."""

    def __init__(self, path: str, reach: Reach, tree: ast.Module) -> None:
        self.path, self.reach = path, reach
        self.found: list[CallSite] = []
        self._first = max(SITES, default=-1) + 1
        self._own = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)} | set(dir(builtins))
        self._imported = {
            (a.asname or a.name).partition(".")[0]
            for n in ast.walk(tree)
            if isinstance(n, (ast.Import, ast.ImportFrom))
            for a in n.names
        }
        self._compiled = reach.inside_compiled()
        self._quiet = False
        self._function = "<module>"
        self._number: int | None = None
        self._marked = False

    # ------------------------------------------------------------------ where

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if node.name in NEVER or node.name in self._compiled or names_called(node.body) & TRAINING:
            return node
        outer = self._quiet, self._function
        self._quiet, self._function = any(map(_is_quiet, node.decorator_list)), node.name
        node.body = self._statements(node.body)
        self._quiet, self._function = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        if not (self.reach.compiled and any(last_name(b).endswith("Module") for b in node.bases)):
            node.body = [self.visit(s) if isinstance(s, functions) else s for s in node.body]
        return node

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = self._statements(node.body)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Await(self, node: ast.Await) -> ast.AST:
        # The call only makes a coroutine; it runs when other calls of the same thread do.
        return node

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self._statement(s) for s in body]

    def _statement(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made: ast.stmt = self.visit(node)
            return made
        if isinstance(node, LOOPS) and names_called(node.body) & (self.reach.names | TRAINING):
            # A training loop is a unit of its own.
            return node
        outer = self._number, self._marked
        self._number, self._marked = self._first + len(self.found), False
        # Only the statement's own expressions; the statements in it are marked by themselves.
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], (ast.expr, ast.withitem)):
                setattr(node, field, [self.visit(v) for v in value])
        marked = self._marked and not isinstance(node, (ast.AsyncFor, ast.AsyncWith))
        if marked:
            end = node.body[0].lineno if isinstance(node, (ast.For, ast.While, ast.If, ast.With)) else None
            last = max(node.lineno, end - 1) if end else node.end_lineno or node.lineno
            self.found.append(CallSite(self._number, self.path, node.lineno, last, self._function))
        number = self._number
        self._number, self._marked = outer
        self._inside(node)
        return _watched(node, number) if marked else node

    def _inside(self, node: ast.stmt) -> None:
        outer = self._quiet
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(_is_quiet(i.context_expr) for i in node.items):
            self._quiet = True
        for field in ("body", "orelse", "finalbody"):
            value = getattr(node, field, None)
            if isinstance(value, list):
                setattr(node, field, self._statements(value))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self._statements(part.body)
        self._quiet = outer

    # ------------------------------------------------------------------ which

    def visit_Call(self, node: ast.Call) -> ast.AST:
        asked = self._number is not None and self._may_ask(node.func)
        self.generic_visit(node)
        if not asked:
            return node
        self._marked = True
        node.func = passed("__fc_callee__", node.func, self._number)
        for at, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                argument.value = passed("__fc_given_to__", argument.value, "*")
            else:
                node.args[at] = passed("__fc_given_to__", argument, at)
        for keyword in node.keywords:
            keyword.value = passed("__fc_given_to__", keyword.value, keyword.arg or "**")
        return passed("__fc_output__", node)

    def _may_ask(self, function: ast.expr) -> bool:
        if not isinstance(function, (ast.Name, ast.Attribute, ast.Subscript)):
            return False
        last, root = last_name(function), _root(function)
        if isinstance(function, ast.Name) and last in self.reach.functions:
            # What it asks is marked where it asks it.
            return False
        if last in self.reach.models or (isinstance(function, ast.Attribute) and last in ASKING):
            return root not in self._imported or root in self.reach.models
        # Under no_grad, what a variable or an attribute of the object holds may be a model.
        held = root in ("self", "cls") if isinstance(function, ast.Attribute) else last not in self._own
        return self._quiet and held and root not in self._imported and last not in self.reach.functions


def _watched(node: ast.stmt, number: int) -> ast.stmt:
    """The statement, and what is told of an exception that leaves it."""
    (around,) = ast.parse(
        "try: pass\n"
        "except BaseException:\n"
        f" (lambda: 0).__builtins__.get('__fc_raised__', (lambda s: None))({number})\n"
        " raise\n"
    ).body
    assert isinstance(around, ast.Try)
    for made in ast.walk(around):
        if isinstance(made, (ast.stmt, ast.expr, ast.ExceptHandler)):
            made.lineno = made.end_lineno = node.lineno
            made.col_offset = made.end_col_offset = 0
    around.body = [node]
    return around


def _is_quiet(expression: ast.expr) -> bool:
    return last_name(expression.func if isinstance(expression, ast.Call) else expression) in QUIET


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
