"""A data set with items by number and without a length goes to a loader.

Why: the loader's sampler asks for len(): TypeError, object of type … has no len().
Refuted by: __len__ here or in a base, a sampler of one's own, an IterableDataset, attributes handed on by __getattr__.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.rules.data.shuffled_stream import class_made
from firstcause.schema.finding import Category, Finding
from firstcause.source.classes import lineage
from firstcause.source.resolve import Defined

SLUG = "dataset-without-length"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    classes: dict[ast.AST | None, Defined] = {
        d.node: d for d in code.subclasses_of("torch.utils.data.Dataset") if isinstance(d.node, ast.ClassDef)
    }
    for call in code.calls("torch.utils.data.DataLoader") if classes else ():
        value = call.argument("dataset", 0)
        if (
            value is None
            or call.may_have("sampler")
            or call.may_have("batch_sampler")
            or len(call.node.args) > 3
        ):
            continue
        for origin in code.origins(value.module, value.node):
            found = classes.get(class_made(code, origin.module, origin.node))
            if found is None or not isinstance(found.node, ast.ClassDef):
                continue
            methods = {
                n.name
                for part in lineage(code.project, found.module, found.node)
                for n in part.node.body
                if isinstance(n, ast.FunctionDef)
            }
            if "__getitem__" in methods and not methods & {"__len__", "__iter__", "__getattr__"}:
                text = f"{found.node.name} has __getitem__ and no __len__, which the loader asks for"
                yield finding(SLUG, CATEGORY, found.module, found.node, text, related=(call.site,))


_BODY = """
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):{mark}
    def __getitem__(self, i):
        return i
{more}

loader = DataLoader(Rows(), batch_size=4{given})
"""
_LEN = "\n    def __len__(self):\n        return 9"
BAD = (
    Example(_BODY.format(mark="  # found", more="", given="")),
    Example(_BODY.format(mark="  # found", more="", given=", shuffle=True")),
)
GOOD = (
    Example(_BODY.format(mark="", more=_LEN, given="")),
    Example(_BODY.format(mark="", more="", given=", sampler=range(9)")),
    Example("""
from torch.utils.data import DataLoader, Dataset

class Base(Dataset):
    def __len__(self):
        return 3

class Rows(Base):
    def __getitem__(self, i):
        return i

loader = DataLoader(Rows())
"""),
)
