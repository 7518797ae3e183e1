"""The tests under which an expression is evaluated: enclosing ifs, conditional expressions, early ways out."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.schema import Site
from firstcause.source.definitions import LEAVES
from firstcause.source.module import FUNCTIONS, Module


@dataclass(frozen=True, eq=False)
class Guard:
    """A test, where it stands, its text, and whether it has to be true (or false) for the expression to be reached.

    ``guarded`` is what stands under the test: a branch, or the rest of the block after an early way out.
    """

    module: Module
    node: ast.If | ast.IfExp
    branch: bool
    guarded: tuple[ast.AST, ...]

    @property
    def test(self) -> ast.expr:
        return self.node.test

    @property
    def site(self) -> Site:
        return self.module.site(self.node)

    @property
    def text(self) -> str:
        return self.module.segment(self.node.test)


def guards(module: Module, node: ast.AST) -> list[Guard]:
    """The tests around an expression within its function, innermost first."""
    found: list[Guard] = []
    current = node
    for parent in module.ancestors(node):
        if isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
            found += _left_before(module, parent, current)
            break
        if isinstance(parent, ast.IfExp) and current is not parent.test:
            found.append(Guard(module, parent, current is parent.body, (current,)))
        elif isinstance(parent, ast.If) and current is not parent.test:
            found += _left_before(module, parent, current)
            is_body = current in parent.body
            found.append(Guard(module, parent, is_body, tuple(parent.body if is_body else parent.orelse)))
        elif isinstance(current, ast.stmt):
            found += _left_before(module, parent, current)
        current = parent
    return found


def _left_before(module: Module, parent: ast.AST, child: ast.AST) -> list[Guard]:
    """Earlier ``if x: return`` in the same block: what follows runs only where x is false."""
    for _, block in ast.iter_fields(parent):
        if isinstance(block, list) and child in block:
            at = block.index(child)
            leaving = [
                s for s in reversed(block[:at]) if isinstance(s, ast.If) and isinstance(s.body[-1], LEAVES)
            ]
            return [Guard(module, s, False, tuple(block[at:])) for s in leaving]
    return []
