"""Which models behave differently in training and evaluation, and which of them an optimizer trains."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from firstcause.check.code import Code
from firstcause.check.library_names import shortest
from firstcause.source.classes import lineage
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, external, resolve

LAYERS = (
    "Dropout",
    "BatchNorm",
    "AlphaDropout",
    "FeatureAlphaDropout",
    "RReLU",
    "SyncBatchNorm",
    "InstanceNorm",
    "LazyBatchNorm",
)
# Layers that hold dropout only where a rate is given.
WITH_RATE = (
    "LSTM",
    "GRU",
    "RNN",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "MultiheadAttention",
    "Transformer",
)


def _module_of(code: Code, node: ast.AST) -> Module | None:
    return next((m for m in code.modules if node in m.parents), None)


def has_modes(code: Code, objects: Iterable[object]) -> bool:
    """Whether any of the models made by these calls holds a layer whose mode matters, as far as the code shows."""
    return any(isinstance(o, ast.Call) and _made_with_modes(code, o) for o in objects)


def _made_with_modes(code: Code, call: ast.Call) -> bool:
    module = _module_of(code, call)
    if module is None:
        return False
    target = resolve(code.project, module, call.func)
    if isinstance(target, Defined) and isinstance(target.node, ast.ClassDef):
        return any(
            _named(code, part.module, inner)
            for part in lineage(code.project, target.module, target.node)
            for inner in ast.walk(part.node)
            if isinstance(inner, ast.Call)
        )
    return any(_named(code, module, inner) for inner in ast.walk(call) if isinstance(inner, ast.Call))


def _named(code: Code, module: Module, call: ast.Call) -> bool:
    target = resolve(code.project, module, call.func)
    if isinstance(target, Defined) and isinstance(target.node, ast.ClassDef):
        known = code.project.memory.setdefault("modes", {})
        if target.node not in known:
            known[target.node] = False
            known[target.node] = _made_with_modes_of(code, target)
        return bool(known[target.node])
    if isinstance(target, Defined) and isinstance(target.node, ast.FunctionDef):
        # A function that makes layers: ``double(3, 32)``.
        known = code.project.memory.setdefault("modes", {})
        if target.node not in known:
            known[target.node] = False
            calls = [n for n in ast.walk(target.node) if isinstance(n, ast.Call)]
            known[target.node] = any(_named(code, target.module, c) for c in calls)
        return bool(known[target.node])
    name = shortest(external(target))
    last = name.rpartition(".")[2]
    if name.startswith("torch.nn.Embedding"):
        # Their ``from_pretrained`` makes a table.
        return False
    if name.startswith("torchvision.models.") or last == "from_pretrained" or name == "timm.create_model":
        return True
    if not name.startswith("torch.nn."):
        return False
    rate = any(
        k.arg == "dropout" and not (isinstance(k.value, ast.Constant) and not k.value.value)
        for k in call.keywords
    )
    return last.startswith(LAYERS) or (last in WITH_RATE and rate)


def _made_with_modes_of(code: Code, target: Defined) -> bool:
    assert isinstance(target.node, ast.ClassDef)
    parts = lineage(code.project, target.module, target.node)
    return any(
        _named(code, part.module, inner)
        for part in parts
        for inner in ast.walk(part.node)
        if isinstance(inner, ast.Call)
    )


def trained_by(code: Code, optimizer: object) -> frozenset[ast.AST]:
    """The calls that made the models whose ``parameters()`` an optimizer was given."""
    if not isinstance(optimizer, ast.Call) or not optimizer.args:
        return frozenset()
    module = _module_of(code, optimizer)
    if module is None:
        return frozenset()
    found: set[ast.AST] = set()
    for node in ast.walk(optimizer.args[0]):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("parameters", "named_parameters")
        ):
            found |= {o.node for o in code.origins(module, node.func.value)}
            # Of a part of it: ``model.classifier[2].parameters()``.
            part = node.func.value
            while isinstance(part, (ast.Attribute, ast.Subscript)):
                part = part.value
            if isinstance(part, ast.Name) and part.id != "self":
                found |= {o.node for o in code.origins(module, part)}
    return frozenset(found)
