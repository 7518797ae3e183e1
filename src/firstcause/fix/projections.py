"""A shortcut that never projects: what its projection has to be, from the layers of the branch that it skips."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.fix.shortcuts import CONVOLUTION
from firstcause.source import Construction, Module, Project
from firstcause.source.arguments import argument
from firstcause.source.frames import Value
from firstcause.source.module import FunctionNode


@dataclass(frozen=True)
class Ends:
    """The layer that a block is made of, and the expressions for the channels that enter and leave the block."""

    layer: str
    entering: str
    leaving: str
    is_convolution: bool


def ends_of(project: Project, module: Module, function: FunctionNode) -> Ends | None:
    """The channels at both ends of the layers that a constructor builds; None where they are not two plain names.

    What enters is the one size that no layer gives to another, what leaves the one that none takes.
    """
    layers = _layers(project, module, function)
    if not layers:
        return None
    taken = {_text(c, CONVOLUTION["in"]): c for c in layers}
    given = {_text(c, CONVOLUTION["out"]): c for c in layers}
    entering = [text for text in taken if text not in given]
    leaving = [text for text in given if text not in taken] or [t for t in given if t not in entering]
    if len(entering) != 1 or len(leaving) != 1 or "" in (*entering, *leaving):
        return None
    last = given[leaving[0]]
    layer = module.segment(last.call.func)
    kind = last.callee.rpartition(".")[2]
    return Ends(layer, entering[0], leaving[0], kind.startswith("Conv"))


def _layers(project: Project, module: Module, function: FunctionNode) -> list[Construction]:
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and len(n.args) >= 2]
    built = [Construction(project, Value(module, call), ()) for call in calls]
    kinds = [(c, c.callee.rpartition(".")[2]) for c in built if c.callee.startswith("torch.nn.")]
    return [
        c for c, kind in kinds if kind == "Linear" or (kind.startswith("Conv") and "Transpose" not in kind)
    ]


def _text(construction: Construction, position: int) -> str:
    given = argument(construction.call, position, None)
    return construction.module.segment(given.node) if given is not None else ""


def strides_in(project: Project, module: Module, function: FunctionNode) -> list[ast.expr]:
    """The names that are given as a stride in a function."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        built = Construction(project, Value(module, node), ())
        is_convolution = built.callee.rpartition(".")[2].startswith("Conv")
        given = argument(node, CONVOLUTION["stride"] if is_convolution else None, "stride")
        if given is not None and isinstance(given.node, (ast.Name, ast.Attribute)):
            found.append(given.node)
    return found
