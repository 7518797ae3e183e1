"""The words that a program is started with: ``sys.argv``, and options of argparse that stand at a place."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence

from firstcause.source.guards import Guard, guards
from firstcause.source.launch import Launch, LaunchFile, concerning
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.resolve import external, resolve
from firstcause.source.shell import text_of

_COMPARED: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def word(project: Project, module: Module, node: ast.Subscript) -> list[tuple[LaunchFile, ast.expr]] | None:
    """What ``sys.argv[k]`` is in the launches that give it; None for anything else, and where nothing starts the program."""
    if not _mentions(project, module):
        return None
    at = node.slice
    if not isinstance(at, ast.Constant) or not isinstance(at.value, int) or at.value < 1:
        return None
    if not _is_argv(project, module, node.value):
        return None
    starts = concerning(project, module)
    return [(x.file, x.behind[at.value - 1]) for x in starts if len(x.behind) >= at.value] or None


def holds(project: Project, module: Module, test: ast.expr) -> bool | None:
    """Whether a test of how many words there are comes out true; None for another test, and where launches differ.

    A program that nothing here starts is started without words.
    """
    if not _mentions(project, module):
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = holds(project, module, test.operand)
        return None if found is None else not found
    if isinstance(test, ast.Subscript) and isinstance(test.slice, ast.Slice):
        # ``sys.argv[1:]`` by itself.
        first = test.slice.lower
        if test.slice.upper is None and isinstance(first, ast.Constant) and isinstance(first.value, int):
            number, compare = first.value, operator.gt
            return _decided(project, module, test.value, lambda n: compare(n, number))
        return None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right = test.left, test.comparators[0]
    over = _COMPARED.get(type(test.ops[0]))
    if (
        over is None
        or not isinstance(right, ast.Constant)
        or type(right.value) is not int
        or not isinstance(left, ast.Call)
        or not isinstance(left.func, ast.Name)
        or left.func.id != "len"
        or len(left.args) != 1
    ):
        return None
    than = right.value
    return _decided(project, module, left.args[0], lambda n: over(n, than))


def reached(project: Project, module: Module, nodes: Sequence[ast.AST]) -> list[ast.AST]:
    """Those of several statements that are run, as far as tests of how many words there are tell.

    One under a test that holds replaces what stands before it.
    """
    if not _mentions(project, module):
        return list(nodes)
    decided = {n: [_decision(project, g) for g in guards(module, n)] for n in nodes}
    left = [n for n in nodes if False not in decided[n]]
    sure = max((getattr(n, "lineno", 0) for n in left if True in decided[n]), default=0)
    return [n for n in left if getattr(n, "lineno", 0) >= sure]


def positional(launch: Launch, number: int) -> ast.expr | None:
    """The word that a launch gives an option that stands at a place, counted from 0: before its options alone is it sure."""
    leading = []
    for each in launch.behind:
        if text_of(each).startswith("-"):
            break
        leading.append(each)
    return leading[number] if number < len(leading) else None


def _mentions(project: Project, module: Module) -> bool:
    """Whether a file speaks of the words at all: few do, and a question about a value asks here at each of its steps."""
    known: dict[str, bool] = project.memory.setdefault("speaks of argv", {})
    if module.path not in known:
        known[module.path] = "argv" in module.text
    return known[module.path]


def _decision(project: Project, guard: Guard) -> bool | None:
    """Whether what stands under a test is run; None where it is no test of the words."""
    found = holds(project, guard.module, guard.test)
    return None if found is None else found is guard.branch


def _decided(project: Project, module: Module, node: ast.expr, is_so: Callable[[int], bool]) -> bool | None:
    if not _is_argv(project, module, node):
        return None
    counts = {1 + len(x.behind) for x in concerning(project, module)} or {1}
    answers = {is_so(n) for n in counts}
    return answers.pop() if len(answers) == 1 else None


def _is_argv(project: Project, module: Module, node: ast.expr) -> bool:
    return (
        isinstance(node, (ast.Name, ast.Attribute)) and external(resolve(project, module, node)) == "sys.argv"
    )
