"""A module puts layers into itself before, or without, calling Module.__init__.

Why: AttributeError at the first layer: cannot assign module before Module.__init__() call.
Refuted by: a call of __init__ of super() or of a base, anything with ** or a dataclass; a base of the project that does not
call it is its own finding.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding, is_own_attribute
from firstcause.check.library_names import shortest
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

SLUG = "module-init-not-called"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for cls in code.subclasses_of("torch.nn.Module"):
        assert isinstance(cls.node, ast.ClassDef)
        bases = {shortest(external(resolve(code.project, cls.module, b))) for b in cls.node.bases}
        init = next(
            (m for m in cls.node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None
        )
        if bases != {"torch.nn.Module"} or cls.node.decorator_list or cls.node.keywords or init is None:
            continue
        called = _first_init(cls.module, init)
        for statement in cls.module.inside(init, ast.Assign, ast.AnnAssign):
            if called and called <= statement.lineno:
                continue
            layer = _layer(code, cls.module, statement)
            if layer is None:
                continue
            when = f"only at line {cls.module.raw_line(called)}" if called else "nowhere"
            text = (
                f"self.{layer} is a layer and Module.__init__ is called {when}: this raises AttributeError; "
                "super().__init__() has to come first"
            )
            yield finding(SLUG, CATEGORY, cls.module, statement, text)
            break


def _first_init(module: Module, init: ast.FunctionDef) -> int:
    """The first line on which an initialiser is called, or may be; 0 where none is."""
    lines = [
        n.lineno
        for n in module.inside(init, ast.Call)
        if isinstance(n.func, ast.Attribute)
        and ("init" in n.func.attr.lower() or n.func.attr == "setup")
        and not ast.unparse(n.func).startswith(("nn.init", "torch.nn.init"))
    ]
    return min(lines, default=0)


def _layer(code: Code, module: Module, statement: ast.stmt) -> str | None:
    """The attribute to which a statement surely gives a layer of torch."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not isinstance(statement.value, ast.Call):
        return None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    name = shortest(external(resolve(code.project, module, statement.value.func)))
    last = name.rpartition(".")[2]
    is_layer = name == f"torch.nn.{last}" and last[:1].isupper()
    return target.attr if is_layer and is_own_attribute(target) else None


BAD = (
    Example("""
from torch import nn

class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(4, 2)  # found

    def forward(self, x):
        return self.fc(x)
"""),
    Example("""
import torch

class Net(torch.nn.Module):
    def __init__(self, width):
        self.width = width
        self.act = torch.nn.ReLU()  # found
        super().__init__()
"""),
)
GOOD = (
    Example("""
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc = nn.Linear(4, 2)
"""),
    Example("""
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        self.width = width
        nn.Module.__init__(self)
        self.fc = nn.Linear(width, 2)
"""),
    Example("""
from torch import nn
from somewhere import Configured

class Net(Configured, nn.Module):
    def __init__(self):
        self.fc = nn.Linear(4, 2)
"""),
    Example("""
from torch import nn

class Plain:
    def __init__(self):
        self.fc = nn.Linear(4, 2)
"""),
)
