"""Targets hold a number that stands for no class, and the loss is not told to leave it out.

Why: cross entropy takes 255 of a mask for a class: it raises on the CPU, and an assert on a card ends the process.
Refuted by: ignore_index, targets that are written anew or picked where the number is met, a loss that is told of it.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "target-out-of-range"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The border and the unlabelled area in masks of Pascal VOC, Cityscapes and ADE20K.
VOID = 255
TARGETS = ("mask", "label", "target", "seg", "truth", "gt", "annot")
LOSSES = ("torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss")
FUNCTIONS = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")


def find(code: Code) -> Iterator[Finding]:
    losses = [c for c in code.calls(*LOSSES, *FUNCTIONS) if not _is_evaluated(code, c)]
    if not losses or any(c.may_have("ignore_index") or c.argument("ignore_index") for c in losses):
        return
    compared = [(m, n) for m in code.modules for n in m.nodes(ast.Compare) if _is_of_void(code, m, n)]
    if not compared or any(_rewrites(m, n) or _picks(m, n, losses) for m, n in compared):
        return
    module, node = compared[0]
    text = (
        f"the targets hold {VOID}, which {module.name}:{node.lineno} leaves out, and this loss counts it as a class: "
        f"ignore_index={VOID}"
    )
    for call in losses:
        yield finding(
            SLUG,
            CATEGORY,
            call.module,
            call.node,
            text,
            argument="ignore_index",
            related=(module.site(node),),
        )


def _is_evaluated(code: Code, call: Call) -> bool:
    return code.under(call.module, call.node, "torch.no_grad", "torch.inference_mode") is not None


def _is_of_void(code: Code, module: Module, node: ast.Compare) -> bool:
    """Whether targets by their name are compared with the number."""
    sides = [node.left, *node.comparators]
    if len(sides) != 2 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return False
    named = [s for s in sides if any(w in last_name(s).lower() for w in TARGETS)]
    if not named:
        return False
    known = [code.constant(module, s) for s in sides if s not in named]
    return any(k is not None and type(k.value) is int and k.value == VOID for k in known)


def _rewrites(module: Module, node: ast.Compare) -> bool:
    """Whether what is found is given another number, or picked before a loss: an index that is assigned, a choice."""
    for parent in module.ancestors(node):
        if isinstance(parent, ast.Call) and last_name(parent.func) in (
            "where",
            "masked_fill",
            "masked_fill_",
        ):
            return True
        if isinstance(parent, ast.Assign):
            return any(isinstance(t, ast.Subscript) and _holds(t, node) for t in parent.targets)
        if isinstance(parent, ast.stmt):
            return False
    return False


def _picks(module: Module, node: ast.Compare, losses: list[Call]) -> bool:
    """Whether, where a loss is taken, something is picked by the comparison: ``loss(out[keep], labels[keep])``."""
    function = module.function(node)
    if not any(c.module is module and module.function(c.node) is function for c in losses):
        return False
    around = next((p for p in module.ancestors(node) if isinstance(p, ast.stmt)), None)
    targets = around.targets if isinstance(around, ast.Assign) else []
    names = {t.id for t in targets if isinstance(t, ast.Name)}
    subscripts = [s for s in module.nodes(ast.Subscript) if module.function(s) is function]
    return any(
        n is node or (isinstance(n, ast.Name) and n.id in names)
        for s in subscripts
        for n in ast.walk(s.slice)
    )


def _holds(target: ast.AST, node: ast.AST) -> bool:
    return any(n is node for n in ast.walk(target))


_BODY = """
import torch
from torch import nn

VOID = 255

def score(net, loader):
    with torch.no_grad():
        for x, mask in loader:
            keep = mask != VOID
            yield (net(x).argmax(1)[keep] == mask[keep]).float().mean()

def fit(net, loader, opt):
    criterion = nn.CrossEntropyLoss({given}){mark}
    for x, mask in loader:
        opt.zero_grad()
        criterion(net(x), mask).backward()
        opt.step()
"""
BAD = (
    Example(_BODY.format(given="", mark="  # found")),
    Example(_BODY.format(given="label_smoothing=0.1", mark="  # found").replace("!= VOID", "!= 255")),
    Example("""
import torch.nn.functional as F

def loss(logits, labels):
    valid = (labels != 255).sum()
    return F.cross_entropy(logits, labels, reduction="sum") / valid  # found
"""),
)
GOOD = (
    Example(_BODY.format(given="ignore_index=VOID", mark="")),
    Example(
        _BODY.format(given="**OPTIONS", mark="").replace("VOID = 255", 'OPTIONS = {"ignore_index": 255}')
    ),
    Example(_BODY.format(given="", mark="").replace("mask != VOID", "x.sum(1) != VOID")),
    Example("""
import torch.nn.functional as F

def loss(logits, labels):
    labels[labels == 255] = 0
    return F.cross_entropy(logits, labels)
"""),
    Example("""
import torch.nn.functional as F

def loss(logits, labels):
    labels = labels.masked_fill(labels == 255, -100)
    return F.cross_entropy(logits, labels)
"""),
    Example("""
import torch.nn.functional as F

def loss(logits, labels):
    keep = labels != 255
    return F.cross_entropy(logits[keep], labels[keep])
"""),
)
