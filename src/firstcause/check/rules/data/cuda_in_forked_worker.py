"""A data set puts samples on the GPU, and worker processes read it.

Why: a forked worker cannot use CUDA: "Cannot re-initialize CUDA in forked subprocess", at the first batch.
Refuted by: no workers, samples moved in the training loop.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.rules.data.shuffled_stream import class_made
from firstcause.schema.finding import Category, Finding

SLUG = "cuda-in-forked-worker"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls("torch.utils.data.DataLoader"):
        workers = call.constant("num_workers", 5)
        value = call.argument("dataset", 0)
        if value is None or workers is None or not isinstance(workers.value, int) or workers.value < 1:
            continue
        if call.may_have("multiprocessing_context") or code.called_names() & {"set_start_method"}:
            continue
        for origin in code.origins(value.module, value.node):
            cls = class_made(code, origin.module, origin.node)
            for module in code.modules if isinstance(cls, ast.ClassDef) else ():
                if cls in module.parents:
                    assert isinstance(cls, ast.ClassDef)
                    for node in _moves(cls):
                        text = f"each sample is put on the GPU in one of {workers.value} worker processes, which cannot use CUDA"
                        yield finding(SLUG, CATEGORY, module, node, text, related=(call.site,))


def _moves(cls: ast.ClassDef) -> Iterator[ast.AST]:
    for method in cls.body:
        if not isinstance(method, ast.FunctionDef) or method.name not in ("__getitem__", "__iter__"):
            continue
        for node in ast.walk(method):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            texts = [
                a.value
                for a in (*node.args, *(k.value for k in node.keywords))
                if isinstance(a, ast.Constant)
            ]
            to_card = any(isinstance(t, str) and t.startswith("cuda") for t in texts)
            if node.func.attr == "cuda" or (
                to_card and node.func.attr in ("to", "tensor", "zeros", "as_tensor")
            ):
                yield node


_BODY = """
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, i):
        return torch.zeros(3){move}{mark}

loader = DataLoader(Rows(), batch_size=4, num_workers={workers})
"""
BAD = (
    Example(_BODY.format(move='.to("cuda")', mark="  # found", workers=4)),
    Example(_BODY.format(move=".cuda()", mark="  # found", workers=2)),
)
GOOD = (
    Example(_BODY.format(move='.to("cuda")', mark="", workers=0)),
    Example(_BODY.format(move="", mark="", workers=4)),
    Example(_BODY.format(move='.to("cpu")', mark="", workers=4)),
)
