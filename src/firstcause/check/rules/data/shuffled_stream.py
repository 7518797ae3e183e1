"""A loader is to shuffle a data set that can only be read in order.

Why: an IterableDataset has no items by number: DataLoader raises ValueError for shuffle=True and for a sampler.
Refuted by: a data set with __getitem__, a buffer that shuffles inside the stream.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

SLUG = "shuffled-stream"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    streams = {d.node for d in code.subclasses_of("torch.utils.data.IterableDataset")}
    for call in code.calls("torch.utils.data.DataLoader") if streams else ():
        value = call.argument("dataset", 0)
        if value is None or not is_true(call, "shuffle", 2):
            continue
        origins = code.origins(value.module, value.node)
        made = [class_made(code, o.module, o.node) for o in origins]
        if made and all(m in streams for m in made):
            text = "shuffle=True on an IterableDataset, which has no order to change: shuffle inside of its __iter__"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="shuffle")


def class_made(code: Code, module: Module, node: ast.AST) -> ast.AST | None:
    target = resolve(code.project, module, node.func) if isinstance(node, ast.Call) else None
    return target.node if isinstance(target, Defined) else None


_BODY = """
from torch.utils.data import DataLoader, {base}

class Rows({base}):
    def __iter__(self):
        yield 1

    def __getitem__(self, i):
        return i

    def __len__(self):
        return 9

loader = DataLoader(Rows(), batch_size=4, shuffle={shuffle}){mark}
"""
BAD = (
    Example(_BODY.format(base="IterableDataset", shuffle="True", mark="  # found")),
    Example("""
import torch.utils.data as data

class Stream(data.IterableDataset):
    def __iter__(self):
        return iter([1, 2])

def make():
    stream = Stream()
    return data.DataLoader(stream, 8, True)  # found
"""),
)
GOOD = (
    Example(_BODY.format(base="Dataset", shuffle="True", mark="")),
    Example(_BODY.format(base="IterableDataset", shuffle="False", mark="")),
    Example(
        "from torch.utils.data import DataLoader\n\n\ndef make(data):\n    return DataLoader(data, shuffle=True)\n"
    ),
)
