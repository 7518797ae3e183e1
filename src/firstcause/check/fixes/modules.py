"""Fixes of modules: layers and tensors registered, so that they are moved, saved and trained."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from firstcause.check.fixes.edits import Edit, replaced
from firstcause.schema.finding import Finding
from firstcause.source.module import Module


def register_layers(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``nn.ModuleList([...])`` around a plain list of layers, ``nn.ModuleDict({...})`` around a dict of them."""
    prefix = _nn(module)
    for node in nodes:
        if not prefix or not isinstance(node, (ast.List, ast.ListComp, ast.Dict, ast.DictComp)):
            continue
        if not isinstance(module.parents.get(node), ast.Assign):
            continue
        kind = "ModuleList" if isinstance(node, (ast.List, ast.ListComp)) else "ModuleDict"
        return [replaced(module, node, f"{prefix}.{kind}({module.segment(node)})")]
    return []


def register_tensor(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``self.register_buffer("name", tensor)`` in place of ``self.name = tensor``."""
    for node in nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            text = f'{target.value.id}.register_buffer("{target.attr}", {module.segment(node.value)})'
            return [replaced(module, node, text)]
    return []


def _nn(module: Module) -> str:
    """How the file calls torch.nn; empty where it has no name for it."""
    found = ""
    for statement in module.nodes(ast.ImportFrom):
        for alias in statement.names:
            if statement.module == "torch" and alias.name == "nn":
                return alias.asname or "nn"
    for plain in module.nodes(ast.Import):
        for alias in plain.names:
            if alias.name == "torch.nn" and alias.asname:
                return alias.asname
            if alias.name == "torch" or (alias.name == "torch.nn" and not alias.asname):
                found = f"{alias.asname or 'torch'}.nn"
    return found
