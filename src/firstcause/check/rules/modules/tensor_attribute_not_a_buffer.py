"""A module keeps a tensor as a plain attribute and computes with it.

Why: .to(device), .half() and state_dict() do not know it: it stays on the CPU, in its dtype, and is not saved.
Refuted by: a single number, which every device takes; register_buffer, nn.Parameter, a tensor moved where it is used,
a module that never leaves the CPU.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding, is_own_attribute
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, external, resolve

SLUG = "tensor-attribute-not-a-buffer"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

MADE = frozenset(
    f"torch.{name}"
    for name in (
        "tensor",
        "zeros",
        "ones",
        "randn",
        "rand",
        "arange",
        "linspace",
        "eye",
        "full",
        "empty",
        "triu",
        "tril",
        "cat",
    )
)
METHODS = ("forward", "__call__")
MOVES = frozenset({"to", "cuda", "type_as", "register_buffer", "to_device"})


def find(code: Code) -> Iterator[Finding]:
    moved: bool | None = None
    for cls in code.subclasses_of("torch.nn.Module", "lightning.LightningModule"):
        assert isinstance(cls.node, ast.ClassDef)
        init = next(
            (m for m in cls.node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None
        )
        for node in cls.module.inside(init, ast.Assign) if init is not None else ():
            if _makes_tensor(code, cls.module, node.value):
                for target in node.targets:
                    if is_own_attribute(target) and _computed_with(cls.node, target.attr):
                        # Asked last: it follows every value that something is moved to.
                        moved = _moved(code) if moved is None else moved
                        if not moved:
                            return
                        name = target.attr
                        text = (
                            f"self.{name} is a plain tensor: .to(device) leaves it behind and state_dict() leaves it out, "
                            f"though forward computes with it; register_buffer({name!r}, …) makes it part of the module"
                        )
                        yield finding(SLUG, CATEGORY, cls.module, node, text)


def _moved(code: Code) -> bool:
    """Whether anything is put on a device: a module that stays on the CPU loses nothing."""
    return bool(code.methods("cuda") or code.imports("accelerate") or code.imports("lightning")) or any(
        _to_device(code, c.module, c.node) for c in code.methods("to")
    )


def _to_device(code: Code, module: Module, node: ast.Call) -> bool:
    given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "device"), None)
    if given is None:
        return False
    known = code.constant(module, given)
    return known is None or str(known.value).partition(":")[0] in ("cuda", "mps", "xpu")


def _makes_tensor(code: Code, module: Module, node: ast.expr) -> bool:
    """A call of a maker of torch, or arithmetic on one; what names its device is placed on purpose."""
    if isinstance(node, ast.BinOp):
        return _makes_tensor(code, module, node.left) or _makes_tensor(code, module, node.right)
    if not isinstance(node, ast.Call):
        return False
    if any(k.arg == "device" for k in node.keywords):
        return False
    target = resolve(code.project, module, node.func)
    if isinstance(target, Defined) and isinstance(target.node, ast.FunctionDef):
        # A function of the program's own that gives back a tensor it has made.
        if ".to(" in target.module.segment(target.node) or "device" in target.module.segment(target.node):
            # Placed on purpose.
            return False
        made = [o for o in code.origins(module, node) if o.node is not node]
        return bool(made) and all(
            isinstance(o.node, ast.Call)
            and external(resolve(code.project, o.module, o.node.func)) in MADE - {"torch.tensor"}
            and not any(k.arg == "device" for k in o.node.keywords)
            for o in made
        )
    name = external(target)
    if name in MADE:
        return name != "torch.tensor" or not _is_number(module, node)
    func = node.func
    passed_on = isinstance(func, ast.Attribute) and func.attr in (
        "float",
        "long",
        "unsqueeze",
        "view",
        "reshape",
        "repeat",
    )
    return passed_on and isinstance(func, ast.Attribute) and _makes_tensor(code, module, func.value)


def _is_number(module: Module, call: ast.Call) -> bool:
    """Whether a tensor is made from one number: it has no dimension, and is taken by an op on any device."""
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Name):
        function = module.function(call)
        arguments = function.args if function is not None else None
        for arg in (*arguments.args, *arguments.kwonlyargs) if arguments is not None else ():
            if arg.arg == given.id and arg.annotation is not None:
                return ast.unparse(arg.annotation) in ("float", "int", "bool")
    return isinstance(given, ast.Constant) or (
        isinstance(given, ast.UnaryOp) and isinstance(given.operand, ast.Constant)
    )


def _is_element(method: ast.FunctionDef, read: ast.Attribute) -> bool:
    """Whether a read takes single numbers out: by an index that counts, or one after the other."""
    counted = {
        n.id
        for f in ast.walk(method)
        if isinstance(f, (ast.For, ast.comprehension))
        and isinstance(f.iter, ast.Call)
        and ast.unparse(f.iter.func) in ("range", "enumerate", "reversed")
        for n in ast.walk(f.target)
        if isinstance(n, ast.Name)
    } | {
        a.arg
        for a in method.args.args
        if a.annotation is not None and ast.unparse(a.annotation) in ("int", "int | None", "Optional[int]")
    }
    for node in ast.walk(method):
        if isinstance(node, (ast.If, ast.IfExp)) and _root(node.test) is read:
            return True
        if isinstance(node, ast.Subscript) and node.value is read:
            names = {n.id for n in ast.walk(node.slice) if isinstance(n, ast.Name)}
            plain = (ast.Name, ast.Constant, ast.BinOp, ast.Load, ast.operator)
            return names <= counted and all(isinstance(n, plain) for n in ast.walk(node.slice))
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "enumerate"
            and node.args
            and node.args[0] is read
        ):
            return True
    return False


def _root(node: ast.expr) -> ast.expr:
    """What is indexed, however often."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _computed_with(cls: ast.ClassDef, name: str) -> bool:
    """Whether a method that runs with data reads it, and none moves it or sets it anew."""
    read = False
    for node in ast.walk(cls):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MOVES:
            inside = [*node.args, *(k.value for k in node.keywords), node.func.value]
            if any(isinstance(i, ast.Attribute) and i.attr == name for i in inside) or _names(node, name):
                return False
    for method in cls.body:
        if isinstance(method, ast.FunctionDef) and method.name in METHODS:
            mine = [
                n
                for n in ast.walk(method)
                if isinstance(n, ast.Attribute) and n.attr == name and is_own_attribute(n)
            ]
            mine = [n for n in mine if isinstance(n.ctx, ast.Store) or not _is_element(method, n)]
            if any(isinstance(n.ctx, ast.Store) for n in mine):
                return False
            read = read or bool(mine)
    return read


def _names(node: ast.Call, name: str) -> bool:
    return any(isinstance(a, ast.Constant) and a.value == name for a in node.args)


_HEAD = """
import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 8)
"""
BAD = (
    Example(
        _HEAD
        + """        self.pos = torch.randn(128, 8) * 0.02  # found

    def forward(self, ids):
        return self.emb(ids) + self.pos[: ids.size(1)]

model = Tagger().to("cuda")
"""
    ),
    Example("""
import torch

class Loss(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.weight = torch.ones(classes)  # found

    def forward(self, x):
        return (x * self.weight).sum()

def run(device):
    return Loss(3).to(device)
"""),
)
GOOD = (
    Example("""
import torch

class Warmup(torch.nn.Module):
    def __init__(self, steps, rate: float):
        super().__init__()
        self.rate = torch.tensor(rate)
        self.schedule = torch.linspace(0.1, 1.0, steps)
        self.active = torch.ones(3, 3)

    def forward(self, x, epoch: int, depth):
        if self.active[depth][0]:
            return x
        return x * self.schedule[epoch] * (1 - self.rate)

model = Warmup(3, 0.5).cuda()
"""),
    Example(
        _HEAD
        + """        self.register_buffer("pos", torch.randn(128, 8) * 0.02)

    def forward(self, ids):
        return self.emb(ids) + self.pos[: ids.size(1)]

model = Tagger().to("cuda")
"""
    ),
    Example(
        _HEAD
        + """        self.pos = torch.arange(128)

    def forward(self, ids):
        return self.emb(ids) + self.pos.to(ids.device)[: ids.size(1)]

model = Tagger().cuda()
"""
    ),
    Example(
        _HEAD
        + """        self.pos = torch.randn(128, 8)

    def forward(self, ids):
        return self.emb(ids) + self.pos[: ids.size(1)]

model = Tagger()
"""
    ),
)
