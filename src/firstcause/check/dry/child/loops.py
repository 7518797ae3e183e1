"""The horizon: the user's loops end once they have trained for long enough, and what stands behind them is run too.

A loop is shortened where it trained, or where it computes for long.
"""

from __future__ import annotations

import ast
import builtins
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TYPE_CHECKING, Any

from firstcause.check.dry.child import due, threads

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

FOR, ENTER, WHILE, LEAVE, DEVICE = (
    f"__firstcause_{n}__" for n in ("for", "enter", "while", "leave", "device")
)
# At least two epochs, and an evaluation between them.
PASSES, STEPS = 3, 6
# Where a step takes many passes, so many of them do.
FEW_STEPS, MANY_PASSES = 3, 12
# A gradient that has been gathered over so many batches and not been applied is never applied.
GATHERED = 130
# Of the run's time, a loop that only computes, when it is met first and again.
LONG, BRIEF = 0.04, 0.01
# And a pass.
SLOW = 0.03
# Data that take longer to prepare are prepared in part.
PREPARED = 100


class Loop:
    """One execution of a loop statement of the user's."""

    def __init__(self, session: Session, key: tuple[str, int], frame: int, planned: int | None) -> None:
        self.session, self.key, self.frame, self.planned = session, key, frame, planned
        self.passes = 0
        # Of a range the last pass is known, of a while loop not even whether there is one.
        self.is_range, self.is_endless = False, False
        # Whether this is the last pass, in which is due what has not been.
        self.last = False
        self.started = time.process_time()
        self._steps = dict(session.steps)
        self._forwards, self._backwards, self._calls = session.forwards, session.backwards, session.calls
        self.is_librarys = not session.owns(key[0])

    @property
    def steps(self) -> int:
        """Steps of the busiest optimizer since the loop began."""
        made = (n - self._steps.get(k, 0) for k, n in self.session.steps.items())
        return max(made, default=0)

    @property
    def backwards(self) -> int:
        return self.session.backwards - self._backwards

    @property
    def computes(self) -> bool:
        """Whether a model was called since the loop began; else it prepares data."""
        return bool(self.steps or self.backwards or self.session.forwards > self._forwards)

    def share(self) -> float:
        """The part of the run's time that this loop has taken; less, where loops are to run for longer."""
        return (time.process_time() - self.started) / self.session.seconds / min(self.session.patience, 3)

    def is_slow(self) -> bool:
        """Whether one more pass would cost too much."""
        return self.share() > SLOW * max(1, self.passes)

    def enough(self) -> bool:
        """Whether what comes next in this loop would only be more of the same."""
        share, patience = self.share(), self.session.patience
        if self.steps:
            done = self.passes >= PASSES * patience and self.steps >= STEPS * patience
            done = done or (self.steps >= FEW_STEPS * patience and self.passes >= MANY_PASSES * patience)
            return done or (self.passes >= 2 and self.steps >= 2 and share > 0.06)
        if self.backwards:
            # A loop that ended before without a step only gathers gradients for one that comes behind it.
            gathers = self.key in self.session.gathering and self.passes >= PASSES * patience
            return gathers or self.passes >= GATHERED or (self.passes >= 2 and share > 0.15)
        called = self.session.forwards > self._forwards
        if called or (self.is_librarys and self.session.calls > self._calls):
            most = BRIEF if self.key in self.session.computing else LONG
            if self.passes < PASSES * patience or share <= most:
                return False
            self.session.computing.add(self.key)
            return True
        if self.is_librarys:
            return False
        return self.passes >= PREPARED and share > 0.06


def install(session: Session) -> None:
    """Put the functions that transformed code calls where every module finds them."""

    def over(items: Iterable[Any], file: str, line: int) -> Iterator[Any]:
        if not threads.is_main():
            return iter(items)
        loop = Loop(session, (file, line), id(sys._getframe(1)), length(items))
        # What is due every so many passes is due in the last one, as a rule.
        loop.is_range = isinstance(items, range)
        last = items[-1] if isinstance(items, range) and items else None
        return _run(session, loop, iter(items), last)

    def enter(file: str, line: int) -> None:
        # Those of other threads feed one of this one, as a rule, as generators do.
        if not threads.is_main():
            return
        frame = id(sys._getframe(1))
        leave(file, line, frame)
        loop = Loop(session, (file, line), frame, None)
        loop.is_endless = True
        session.loops.append(loop)

    def leave(file: str, line: int, frame: int = 0) -> None:
        frame = frame or id(sys._getframe(1))
        session.loops[:] = [x for x in session.loops if x.key != (file, line) or x.frame != frame]

    def go_on(file: str, line: int) -> bool:
        frame = id(sys._getframe(1))
        for loop in reversed(session.loops):
            if loop.key == (file, line) and loop.frame == frame:
                if loop.passes and loop.enough() and not due.another(session, loop):
                    session.was_cut = True
                    return False
                loop.passes += 1
                break
        return True

    for name, function in ((FOR, over), (ENTER, enter), (LEAVE, leave), (WHILE, go_on)):
        setattr(builtins, name, function)


def length(items: Any) -> int | None:
    try:
        return len(items) if isinstance(items, Sized) else None
    except TypeError:
        # A DataLoader of a stream has a length by its class, and none when it is asked.
        return None


def _run(session: Session, loop: Loop, source: Iterator[Any], last: int | None) -> Iterator[Any]:
    session.loops.append(loop)
    try:
        for item in source:
            loop.passes += 1
            yield item
            if loop.enough() and (loop.is_range or not due.another(session, loop)):
                session.was_cut = True
                session.data_were_cut |= not loop.computes
                break
        else:
            return
        # Where there are fewer samples than the program believes, the last one is not among them.
        if last is not None and item != last and not loop.is_slow() and not session.data_were_cut:
            loop.last = True
            yield last
    finally:
        if loop.backwards and not loop.steps:
            session.gathering.add(loop.key)
        if loop in session.loops:
            session.loops.remove(loop)


def transformed(source: bytes | ast.Module, file: str) -> Any:
    """The code of a file with its loops under the horizon; lines stay what they are."""
    tree = source if isinstance(source, ast.Module) else ast.parse(source, file)
    return compiled(tree, file, Transformer(file))


def compiled(tree: ast.Module, file: str, transformer: Transformer) -> Any:
    """The code of a tree as a transformer leaves it."""
    tree = ast.fix_missing_locations(transformer.visit(tree))
    return compile(tree, file, "exec", dont_inherit=True)


class Transformer(ast.NodeTransformer):
    """Asks the horizon at every loop, and at what is due in it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.gives = False

    def _call(self, name: str, at: ast.AST, *first: ast.expr, place: bool = True) -> ast.expr:
        where: list[ast.expr] = [ast.Constant(self.file), ast.Constant(at.lineno)] if place else []  # type: ignore[attr-defined]
        call = ast.Call(ast.Name(name, ast.Load()), [*first, *where], [])
        return ast.copy_location(call, at)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        # A generator gives as much as it is asked for: who asks is shortened, and must not find it at its end.
        outer, self.gives = self.gives, _gives(node)
        self.generic_visit(node)
        self.gives = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if self.gives:
            return node
        node.iter = self._call(FOR, node.iter, node.iter)
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        if self.gives:
            return node
        test = ast.BoolOp(ast.And(), [self._call(WHILE, node.test), node.test])
        node.test = ast.copy_location(test, node.test)
        before = ast.copy_location(ast.Expr(self._call(ENTER, node.test)), node)
        after = ast.copy_location(ast.Expr(self._call(LEAVE, node.test)), node)
        return [before, node, after]

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        due.transformed(node, lambda name, at, *first: self._call(name, at, *first))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr == "device" and isinstance(node.ctx, ast.Load):
            return self._call(DEVICE, node, node, place=False)
        return node


def _gives(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a generator."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False
