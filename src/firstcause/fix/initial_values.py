"""Where a program sets the initial values of its weights by hand, and those of an initialisation that fits instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.fix.edits import Edit
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import imports_torch
from firstcause.source import Module, Project

WRITES = frozenset(
    {"normal_", "uniform_", "fill_", "zero_", "copy_", "mul_", "add_", "sub_", "div_", "clamp_"}
)
NAMED = re.compile(r"(?:^|[._])(weight|bias)\w*$")


@dataclass(frozen=True)
class Initialiser:
    """A call that writes initial values: into what, whether that is a bias, and what it is written with."""

    module: Module
    call: ast.Call
    target: str
    bias: bool
    prefix: str

    @property
    def is_one(self) -> bool:
        """Whether it sets a scale to 1, as is right for a normalisation layer."""
        name = self.module.segment(self.call.func)
        given = [a.value for a in self.call.args if isinstance(a, ast.Constant)]
        return "ones_" in name or (not self.bias and 1 in given and ("constant_" in name or "fill_" in name))

    def fitting(self, relu: bool) -> Edit | None:
        """An edit to Kaiming's or Glorot's values, or 0 for a bias; None where it has to stay or is so already."""
        if self.bias:
            text = f"{self.prefix}.zeros_({self.target})"
        elif relu:
            text = f'{self.prefix}.kaiming_normal_({self.target}, nonlinearity="relu")'
        else:
            text = f"{self.prefix}.xavier_uniform_({self.target})"
        if self.is_one or text == self.module.segment(self.call):
            return None
        return replaced(self.module, self.call, text)


def initialisers(project: Project) -> list[Initialiser]:
    """All of them, outside of functions that train, in the order of the text; those of weights before those of biases."""
    found = [i for module in project.modules for i in _in_module(module)]
    return sorted(found, key=lambda i: i.bias)


def _in_module(module: Module) -> Iterator[Initialiser]:
    for call in module.nodes(ast.Call):
        made = _initialiser(module, call)
        if made is not None and not _trains(module, call):
            yield made


def _initialiser(module: Module, call: ast.Call) -> Initialiser | None:
    if not isinstance(call.func, ast.Attribute) or not call.func.attr.endswith("_"):
        return None
    holder = module.segment(call.func.value)
    if holder.rpartition(".")[2] == "init" and call.args:
        target, prefix = module.segment(call.args[0]).removesuffix(".data"), holder
        return Initialiser(module, call, target, "bias" in target, prefix)
    target = holder.removesuffix(".data")
    if call.func.attr in WRITES and NAMED.search(target) and imports_torch(module):
        return Initialiser(module, call, target, "bias" in target, "torch.nn.init")
    return None


def _trains(module: Module, call: ast.Call) -> bool:
    """Whether a call is made again as steps are taken: in the loop of a backward pass, or in a function that is one step."""
    function, around = module.function(call), _loops(module, call)
    return any(
        module.function(c) is function and (loops & around if (loops := _loops(module, c)) else function)
        for c in module.nodes(ast.Call)
        if isinstance(c.func, ast.Attribute) and c.func.attr == "backward"
    )


def _loops(module: Module, node: ast.AST) -> set[ast.AST]:
    return {n for n in module.ancestors(node) if isinstance(n, (ast.For, ast.While))}


def chosen(project: Project, negative_bias: bool) -> Initialiser | None:
    """The one to blame: for dead units a bias below 0, else the first weight whose values the program sets by hand."""
    found = [i for i in initialisers(project) if not i.is_one]
    if negative_bias:
        below = [i for i in found if i.bias and any(isinstance(a, ast.UnaryOp) for a in i.call.args)]
        found = below or found
    return found[0] if found else None


def fitting(project: Project, relu: bool) -> list[Edit]:
    """Edits after which every weight that is set by hand begins on a scale that fits, and every bias at 0."""
    return [e for i in initialisers(project) if (e := i.fitting(relu)) is not None]
