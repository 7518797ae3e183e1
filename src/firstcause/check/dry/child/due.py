"""What is due every so many passes, as in ``if step % 500 == 0:``, is due once more in a loop that is shortened before.

The loop makes one more pass for it. A block that the passes did not come to all the same is named in a note.
"""

from __future__ import annotations

import ast
import builtins
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.check.dry.child.loops import Loop
    from firstcause.check.dry.child.session import Place, Session

DUE, REACHED = "__firstcause_due__", "__firstcause_reached__"
# Of the run's time, the pass that is made for it, and what may have gone by before.
CHEAP, EARLY = 0.08, 0.5


@dataclass
class Count:
    """The values that a test has seen of its counter, and whether its block was run later than at the start."""

    last: int = 0
    every: int = 0
    stride: int = 0
    times: int = 0
    steady: bool = True
    begins_again: bool = False
    reached: bool = False
    reached_later: bool = False
    # Whether the loop was shortened before it could be.
    missed: bool = False
    # The loop that it stands in, and those around.
    inner: Place = ("", 0)
    outer: set[Place] = field(default_factory=set)

    def see(self, value: int, loops: list[Loop]) -> bool:
        """One value more; gives whether it follows the one before as those did."""
        stride, self.last, self.times = value - self.last, value, self.times + 1
        if loops:
            self.inner, self.outer = loops[-1].key, {loop.key for loop in loops[:-1]}
        if self.times == 1:
            return True
        if self.times == 2:
            self.stride, self.steady = stride, stride > 0
            return self.steady
        if stride <= 0:
            self.begins_again = True
            return True
        follows = stride == self.stride
        self.steady = self.steady and (follows or (bool(loops) and loops[-1].last))
        return follows

    def waits(self, loop: Loop) -> bool:
        """Whether it counts, would be due some time after the passes of this loop, and was not."""
        if self.times < 2 or not self.steady or self.reached_later:
            return False
        if loop.key != self.inner:
            return loop.key in self.outer and not self.begins_again
        if loop.planned is None:
            return True
        rest = 0 if loop.last and loop.is_range else loop.planned - loop.passes
        return self.last + rest * self.stride >= self.every


_counts: dict[Place, Count] = {}


def install(session: Session) -> None:
    """Put the functions that transformed code calls where every module finds them."""

    def due(left: Any, right: Any, wanted: Any, file: str, line: int) -> Any:
        found = left % right == wanted
        if type(left) is not int or type(right) is not int:
            return found
        count = _counts.setdefault((file, line), Count())
        count.every = right
        follows = count.see(left, session.loops)
        last = next((loop for loop in reversed(session.loops) if loop.last and count.waits(loop)), None)
        if found or last is None or (last.is_range and not follows and left < right):
            return found
        if not last.is_endless and (last.planned is None or last.key != count.inner):
            # Whether the real loop comes so far is not known.
            session.made_up()
        return True

    def reached(file: str, line: int) -> None:
        count = _counts[file, line] if (file, line) in _counts else Count()
        count.reached = True
        count.reached_later = count.reached_later or count.last > 0

    setattr(builtins, DUE, due)
    setattr(builtins, REACHED, reached)


def another(session: Session, loop: Loop) -> bool:
    """Whether one more pass, the last, is worth its time; whoever is told so makes it."""
    waiting = [] if loop.last else [count for count in _counts.values() if count.waits(loop)]
    for count in waiting:
        count.missed = True
    costs = loop.share() / max(1, loop.passes)
    loop.last = bool(waiting) and costs <= CHEAP and session.elapsed() <= EARLY
    return loop.last


def tell(session: Session) -> None:
    """Name the blocks that were never run, though their loop would have come to them."""
    for (file, line), count in _counts.items():
        if count.missed and not count.reached:
            name = os.path.relpath(file, session.folder)
            session.note(f"{name}:{line} was never due in the shortened loops: its block was not run")


def transformed(node: ast.If, call: Any) -> None:
    """Ask ``due`` in the place of the test's remainders; ``call`` makes a call of a name with a place."""
    asked: list[ast.AST] = []
    node.test = _asking(node.test, call, asked)
    if asked:
        node.body.insert(0, ast.copy_location(ast.Expr(call(REACHED, asked[0])), node.body[0]))


def _asking(test: ast.expr, call: Any, asked: list[ast.AST]) -> ast.expr:
    if isinstance(test, ast.BoolOp):
        test.values = [_asking(value, call, asked) for value in test.values]
        return test
    wanted: ast.expr | None = None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        remainder, wanted = test.left, test.comparators[0]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        remainder, wanted = test.operand, ast.Constant(0)
    if wanted is None or not (isinstance(remainder, ast.BinOp) and isinstance(remainder.op, ast.Mod)):
        return test
    asked.append(test)
    made: ast.expr = call(DUE, test, remainder.left, remainder.right, wanted)
    return made
