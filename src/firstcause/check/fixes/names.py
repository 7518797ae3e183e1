"""Fixes of names: arguments that are called otherwise now, deprecated aliases, arguments in each other's place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from firstcause.check.fixes.edits import Edit, replaced
from firstcause.check.renamed import instead
from firstcause.schema.finding import Finding
from firstcause.source.module import Module

_AMP = {"autocast": "torch.amp.autocast", "GradScaler": "torch.amp.GradScaler"}


def rename_argument(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """The argument's present name, where it takes the same values under it."""
    current = instead("arguments", finding.argument)
    if not current.isidentifier():
        return []
    for node in nodes:
        parent = module.parents.get(node)
        keyword = node if isinstance(node, ast.keyword) else parent
        if isinstance(keyword, ast.keyword) and keyword.arg == finding.argument:
            call = module.parents.get(keyword)
            if isinstance(call, ast.Call) and any(k.arg == current for k in call.keywords):
                return []
            start = module.span(keyword)[0]
            return [Edit(start, start + len(finding.argument), current)]
    return []


def present_amp(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``torch.amp.GradScaler("cuda")`` in place of ``torch.cuda.amp.GradScaler()``."""
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        written = module.segment(node.func)
        for device in ("cuda", "cpu"):
            if node.func.attr in _AMP and written == f"torch.{device}.amp.{node.func.attr}":
                start, end = module.span(node.func)
                opened = module.text.index("(", end) + 1
                more = ", " if node.args or node.keywords else ""
                return [Edit(start, end, _AMP[node.func.attr]), Edit(opened, opened, f'"{device}"{more}')]
    return []


def swap_arguments(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """The first two arguments of a loss in each other's place."""
    for node in nodes:
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            first, second = node.args[:2]
            if isinstance(first, ast.Starred) or isinstance(second, ast.Starred):
                return []
            return [
                replaced(module, first, module.segment(second)),
                replaced(module, second, module.segment(first)),
            ]
    return []
