"""The statement at which the ways of two ranks part: a branch that one takes and the other does not, or a loop."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.lab.rings import Code, Way
from firstcause.schema import Site
from firstcause.source.module import FUNCTIONS, Module
from firstcause.source.project import Project
from firstcause.specialists.examination import Facts

LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Raise)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
Passed = ast.If | ast.For | ast.AsyncFor | ast.While
Ways = tuple[Way, Way]
Stacks = tuple[Sequence[Facts], Sequence[Facts]]


@dataclass(frozen=True)
class Branch:
    """Where the ways part: the statement, how often each rank went into it, and the line beneath it that one of them reached.

    ``reached`` is the line of the same function from which the differing collective was made; 0 where it stands behind.
    """

    module: Module
    node: ast.stmt
    times: dict[int, int]
    reached: int

    @property
    def is_loop(self) -> bool:
        return isinstance(self.node, LOOPS)

    @property
    def site(self) -> Site:
        return self.module.site(self.node)

    @property
    def test(self) -> str:
        """What decides: the test, or what a loop goes through."""
        if isinstance(self.node, (ast.If, ast.While)):
            return self.module.segment(self.node.test)
        return self.module.segment(self.node.iter) if isinstance(self.node, (ast.For, ast.AsyncFor)) else ""


def branch(project: Project, ranks: tuple[int, int], ways: Ways, stacks: Stacks) -> Branch | None:
    """The branch behind the differing collective; None where the ways do not show one.

    A function that one rank called more often than the other only follows from a branch further up. Of the statements
    that the ranks passed differently, one counts that the collective stands in, or that leaves the way to it.
    """
    if not (ways[0].whole and ways[1].whole):
        return None
    begun = [way.begun() for way in ways]
    followed = [way.followed() for way in ways]
    found: list[tuple[int, Branch]] = []
    for code in begun[0].keys() & begun[1].keys():
        if begun[0][code] != begun[1][code]:
            continue
        module = project.module(code.file)
        if module is None:
            continue
        lines = {
            f["line"] for s in stacks for f in s if (f["file"], f["function"]) == (code.file, code.function)
        }
        depth = max((len(s) - i for s in stacks for i, f in enumerate(s) if _is(f, code)), default=0)
        found += [(depth, b) for b in _of_function(module, code, ranks, followed, lines)]
    # The innermost function of those that lead to the collective, and in it the way out before the loop around it.
    return max(
        found, key=lambda pair: (pair[0], not pair[1].is_loop, pair[1].node.lineno), default=(0, None)
    )[1]


def _is(frame: Facts, code: Code) -> bool:
    return (frame["file"], frame["function"]) == (code.file, code.function)


def _of_function(
    module: Module,
    code: Code,
    ranks: tuple[int, int],
    followed: list[Counter[tuple[Code, int, int]]],
    lines: set[int],
) -> Iterator[Branch]:
    for node in _statements(module, code):
        branches = [*node.body, *node.orelse]
        inside = {n.lineno for s in node.body for n in ast.walk(s) if isinstance(n, ast.stmt)}
        head = _head(node)
        own = [{(a, b): n for (c, a, b), n in f.items() if c == code} for f in followed]
        times = [sum(n for (line, then), n in f.items() if line in head and then in inside) for f in own]
        if times[0] == times[1]:
            continue
        spans = [range(s.lineno, (s.end_lineno or s.lineno) + 1) for s in branches]
        reached = next((line for line in sorted(lines) if any(line in span for span in spans)), 0)
        arrived = [
            sum(n for (line, then), n in f.items() if then in head and line not in inside) for f in own
        ]
        if isinstance(node, LOOPS):
            # A loop that was only begun more often goes round as often each time: the loop around it is meant. And a
            # rank that stands in its head, as in a loader, has not left it.
            fewer = times.index(min(times))
            left = [
                sum(n for (line, then), n in f.items() if line in head and then not in inside) for f in own
            ]
            counts = (
                times[0] * arrived[1] != times[1] * arrived[0]
                and left[fewer] >= left[1 - fewer]
                and left[fewer] > 0
            )
        else:
            leaves = {type(n) for s in branches for n in ast.walk(s) if isinstance(n, LEAVES)}
            ends = bool(leaves - {ast.Continue}) and 0 in times
            counts = (bool(reached or leaves) and arrived[0] == arrived[1]) or ends
        if counts:
            yield Branch(module, node, dict(zip(ranks, times, strict=True)), reached)


def _head(node: Passed) -> range:
    """The lines of a statement's own head."""
    return range(node.lineno, node.body[0].lineno if node.body[0].lineno > node.lineno else node.lineno + 1)


def _statements(module: Module, code: Code) -> Iterator[Passed]:
    found: list[Passed] = [
        *module.nodes(ast.If),
        *module.nodes(ast.For),
        *module.nodes(ast.AsyncFor),
        *module.nodes(ast.While),
    ]
    for node in found:
        function = module.function(node)
        if code.function == "<module>":
            if function is None:
                yield node
        elif isinstance(function, FUNCTIONS) and getattr(function, "name", "<lambda>") == code.function:
            first = min([function.lineno, *(d.lineno for d in getattr(function, "decorator_list", []))])
            if first == code.first_line:
                yield node
