"""Layers in a plain list or dict of a module.

Why: the module does not know them: parameters() leaves them out, so they are neither trained, moved nor saved.
Refuted by: nn.ModuleList or nn.ModuleDict around them, add_module or setattr of each, their parameters handed on explicitly,
layers that are taken out again, to be registered then.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding, is_own_attribute
from firstcause.check.library_names import shortest
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.classes import external_bases
from firstcause.source.module import Module, within
from firstcause.source.resolve import Defined, external, resolve

SLUG = "unregistered-submodules"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

NO_MODULES = ("torch.nn.Parameter", "torch.nn.functional", "torch.nn.init", "torch.nn.utils")


def find(code: Code) -> Iterator[Finding]:
    for cls in code.subclasses_of("torch.nn.Module", "lightning.LightningModule"):
        assert isinstance(cls.node, ast.ClassDef)
        for attribute, node in _plain_containers(cls.module, cls.node):
            first = _module_in(code, cls.module, node)
            if first is None or _handed_on(cls.node, attribute):
                continue
            kind = "ModuleDict" if isinstance(node, (ast.Dict, ast.DictComp)) else "ModuleList"
            text = (
                f"self.{attribute} holds layers ({first}) in a plain {'dict' if kind == 'ModuleDict' else 'list'}: parameters() "
                f"does not see them, so they are not trained, moved or saved; nn.{kind} registers them"
            )
            yield finding(SLUG, CATEGORY, cls.module, node, text)


def _plain_containers(module: Module, cls: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The attributes of self that are given a list, dict or comprehension, or a layer by append."""
    for node in module.inside(cls, ast.Assign, ast.Call):
        if isinstance(node, ast.Assign) and isinstance(
            node.value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)
        ):
            yield from ((t.attr, node.value) for t in node.targets if is_own_attribute(t))
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "append"
            and is_own_attribute(node.func.value)
            and node.args
            and _starts_empty(cls, node.func.value.attr)
        ):
            yield (
                node.func.value.attr,
                ast.List([node.args[0]], ast.Load(), lineno=node.lineno, col_offset=node.col_offset),
            )


def _starts_empty(cls: ast.ClassDef, attribute: str) -> bool:
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.value, ast.List)
        and not n.value.elts
        and any(is_own_attribute(t) and t.attr == attribute for t in n.targets)
        for n in within(cls)
    )


def _module_in(code: Code, module: Module, node: ast.expr) -> str | None:
    """The name of the first class of modules among the elements."""
    if isinstance(node, ast.List):
        elements: list[ast.expr] = list(node.elts)
    elif isinstance(node, ast.Dict):
        elements = list(node.values)
    else:
        assert isinstance(node, (ast.ListComp, ast.DictComp))
        elements = [node.elt if isinstance(node, ast.ListComp) else node.value]
    for element in elements:
        named = _class_of_modules(code, module, element)
        if named:
            return named
    return None


def _class_of_modules(code: Code, module: Module, element: ast.expr) -> str | None:
    if not isinstance(element, ast.Call):
        return None
    target = resolve(code.project, module, element.func)
    if isinstance(target, Defined) and isinstance(target.node, ast.ClassDef):
        bases = {shortest(b) for b in external_bases(code.project, target.module, target.node)}
        return target.node.name if "torch.nn.Module" in bases else None
    name = shortest(external(target))
    last = name.rpartition(".")[2]
    is_module = name.startswith("torch.nn.") and last[:1].isupper() and not name.startswith(NO_MODULES)
    return last if is_module else None


def _handed_on(cls: ast.ClassDef, attribute: str) -> bool:
    """Registered in another way: given to a container, a Sequential, add_module or setattr in the class."""
    for node in within(cls):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("add_module", "register_module", "setattr"):
            return True
        taken = isinstance(node.func, ast.Attribute) and name in ("pop", "popleft")
        if taken and isinstance(node.func, ast.Attribute) and _is_of(node.func.value, attribute):
            # What is taken out of it may be registered then: stages of a model that grows.
            return True
        # A module of the project's own that is given them may register them.
        given = [*node.args, *(k.value for k in node.keywords)]
        if name.lstrip("_")[:1].isupper() and any(is_own_attribute(g) and g.attr == attribute for g in given):
            return True
        if name in ("ModuleList", "ModuleDict", "Sequential", "ParameterList"):
            inside = [n for a in node.args for n in within(a)]
            if any(isinstance(n, ast.Attribute) and n.attr == attribute for n in inside):
                return True
    return False


def _is_of(node: ast.expr, attribute: str) -> bool:
    return is_own_attribute(node) and node.attr == attribute


BAD = (
    Example("""
from torch import nn

class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = [nn.Linear(8, 8) for _ in range(depth)]  # found

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""),
    Example("""
import torch.nn as nn

class Block(nn.Module):
    pass

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = {"a": Block(), "b": Block()}  # found

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for i in range(3):
            self.layers.append(nn.LSTM(8, 8))  # found
"""),
)
GOOD = (
    Example("""
from torch import nn

class Growing(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.stages = nn.ModuleList([nn.Linear(8, 8)])
        self.plan = [nn.Linear(8, 8) for _ in range(depth - 1)]

    def grow(self):
        self.stages.append(self.plan.pop(0))
"""),
    Example("""
from torch import nn

class _Chosen(nn.Module):
    def __init__(self, scalers):
        super().__init__()
        self.scalers = nn.ModuleDict(scalers)

class Net(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.scalers = {n: nn.Linear(1, 8) for n in names}
        self.chosen = _Chosen(scalers=self.scalers)
"""),
    Example("""
from torch import nn

class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        blocks = [nn.Linear(8, 8) for _ in range(depth)]
        self.blocks = nn.ModuleList(blocks)
        self.sizes = [8 for _ in blocks]
"""),
    Example("""
from torch import nn

class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = [nn.Linear(8, 8) for _ in range(depth)]
        for i, block in enumerate(self.blocks):
            self.add_module(f"block{i}", block)
"""),
    Example("""
from torch import nn

class Zoo:
    def __init__(self):
        self.models = [nn.Linear(8, 8), nn.Linear(8, 8)]
"""),
)
