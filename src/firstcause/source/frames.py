"""Values in their context: an expression, the call through which its function was entered, the part taken of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from firstcause.source.module import FunctionNode, Module
from firstcause.source.steps import Path


# Nobody changes one; a frozen class takes four times as long to make, and these are made by the hundred thousand.
@dataclass(eq=False, slots=True)
class Value:
    """An expression of a module, evaluated in a frame (None: by any call), then projected by ``path``."""

    module: Module
    node: ast.expr
    frame: Frame | None = None
    path: Path = ()

    def at(self, node: ast.expr, path: Path = ()) -> Value:
        """Another expression of the same module and frame."""
        return Value(self.module, node, self.frame, path)


@dataclass(eq=False)
class Instance:
    """An object of a project class, and the constructor call that made it where that is known."""

    module: Module
    cls: ast.ClassDef
    made: Value | None = None


@dataclass(eq=False)
class Frame:
    """A function entered through one call: its arguments, and the object that it is a method of.

    ``implicit`` is 1 where the first parameter is bound by the call's syntax (self), ``skip`` counts
    leading arguments that are not the function's own (the function given to ``partial``), ``given``
    binds parameters that no call in the code binds.
    """

    function: FunctionNode
    call: Value | None
    owner: Instance | None = None
    implicit: int = 0
    skip: int = 0
    given: Mapping[str, Value] = field(default_factory=dict)

    @property
    def caller(self) -> Frame | None:
        return self.call.frame if self.call is not None else None


def signature(frame: Frame | None) -> tuple[int, ...]:
    """What tells two frames apart: the calls that led there."""
    found = []
    while frame is not None:
        made = frame.owner.made if frame.owner is not None else None
        found += [id(frame.function), id(frame.call.node) if frame.call else 0, id(made.node) if made else 0]
        frame = frame.caller
    return tuple(found)


def depth(frame: Frame | None) -> int:
    found = 0
    while frame is not None:
        found, frame = found + 1, frame.caller
    return found


def frame_of(frame: Frame | None, function: FunctionNode | None) -> Frame | None:
    """The frame of a function among a frame and its callers: a closure reads what its maker was given."""
    while frame is not None and frame.function is not function:
        frame = frame.caller
    return frame
