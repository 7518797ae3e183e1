"""Samples with boxes, of which each image has another number, go to a loader that stacks them.

Why: the default collation stacks each entry of the samples: RuntimeError, stack expects each tensor to be equal size.
Refuted by: a collate_fn, batches of one, a batch sampler, boxes that are padded.
Holds for: torch, torchvision, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.rules.data.shuffled_stream import class_made
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.classes import lineage
from firstcause.source.resolve import Defined

SLUG = "ragged-samples-in-default-collate"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Data sets whose targets are lists of objects.
OF_OBJECTS = ("torchvision.datasets.CocoDetection", "torchvision.datasets.VOCDetection")
BOXES = "boxes"


def find(code: Code) -> Iterator[Finding]:
    classes: dict[ast.AST | None, Defined] = {
        d.node: d for d in code.subclasses_of("torch.utils.data.Dataset") if isinstance(d.node, ast.ClassDef)
    }
    of_objects = {call.node for call in code.calls(*OF_OBJECTS)}
    for call in code.calls("torch.utils.data.DataLoader"):
        if call.may_have("collate_fn") or call.may_have("batch_sampler") or len(call.node.args) > 2:
            continue
        value, size = call.argument("dataset", 0), call.constant("batch_size", 1)
        if value is None or size is None or not isinstance(size.value, int) or size.value < 2:
            continue
        for origin in code.origins(value.module, value.node):
            made = classes.get(class_made(code, origin.module, origin.node))
            where = _of_boxes(code, made) if made is not None else None
            if origin.node in of_objects:
                where = "each image has another number of objects"
            if where is not None:
                yield _told(call, where)
                break


def _told(call: Call, where: str) -> Finding:
    text = f"{where}, and a loader without collate_fn stacks samples: they must all have one shape"
    return finding(SLUG, CATEGORY, call.module, call.node, text, argument="collate_fn")


def _of_boxes(code: Code, made: Defined) -> str | None:
    """Where a sample of this class is given boxes."""
    assert isinstance(made.node, ast.ClassDef)
    for part in lineage(code.project, made.module, made.node):
        for method in part.node.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "__getitem__":
                continue
            if any("pad" in last_name(n.func).lower() for n in ast.walk(method) if isinstance(n, ast.Call)):
                return None
            for line, value in _entries(method):
                if isinstance(value, (ast.Call, ast.Name, ast.Subscript)):
                    return f"a sample of {made.node.name} has its image's boxes (line {line})"
    return None


def _entries(method: ast.FunctionDef) -> Iterator[tuple[int, ast.expr]]:
    """What is put under the name of boxes, in a display or by assignment."""
    for node in ast.walk(method):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == BOXES:
                    yield value.lineno, value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            at = node.targets[0].slice
            if isinstance(at, ast.Constant) and at.value == BOXES:
                yield node.lineno, node.value


_BODY = """
import torch
from torch.utils.data import DataLoader, Dataset

class Photos(Dataset):
    def __init__(self, entries):
        self.entries = entries

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, i):
        entry = self.entries[i]
        target = {{"boxes": torch.tensor(entry["boxes"]){padded}, "labels": torch.tensor(entry["labels"])}}
        return torch.zeros(3, 8, 8), target

def as_lists(rows):
    return tuple(zip(*rows))

loader = DataLoader(Photos([]), batch_size={size}{given}){mark}
"""
BAD = (
    Example(_BODY.format(padded="", size=4, given=", shuffle=True", mark="  # found")),
    Example("""
from torch.utils.data import DataLoader
from torchvision.datasets import CocoDetection

photos = CocoDetection("images", "train.json")
loader = DataLoader(photos, 8)  # found
"""),
)
GOOD = (
    Example(_BODY.format(padded="", size=4, given=", collate_fn=as_lists", mark="")),
    Example(_BODY.format(padded="", size=1, given="", mark="")),
    Example(
        _BODY.format(padded="", size=4, given="", mark="").replace(
            'torch.tensor(entry["boxes"])', 'padded(entry["boxes"], 10)'
        )
    ),
)
