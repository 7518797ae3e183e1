"""The loader of an evaluation leaves out its last, smaller batch.

Why: the figures are of a part of the set: with shuffle of another part each time.
Refuted by: drop_last=False, a loader that only trains.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.evaluation import evaluation_loops
from firstcause.check.makers import is_true, maker
from firstcause.check.rule import Example
from firstcause.check.sequences import looped_over
from firstcause.schema.finding import Category, Finding

SLUG = "evaluation-drops-samples"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for evaluation in evaluation_loops(code):
        over = looped_over(evaluation.loop)
        made = maker(code, evaluation.loop.module, over) if over is not None else None
        if made is not None and made.name == "torch.utils.data.DataLoader" and is_true(made, "drop_last", 8):
            text = "drop_last=True leaves samples out of the evaluation"
            yield finding(
                SLUG,
                CATEGORY,
                made.module,
                made.node,
                text,
                argument="drop_last",
                related=(evaluation.loop.module.site(evaluation.loop.node),),
            )


_BODY = """
import torch
from torch.utils.data import DataLoader

def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right

def main(model, data):
    loader = DataLoader(data, batch_size=64{given}){mark}
    return validate(model, loader)
"""
BAD = (
    Example(_BODY.format(given=", drop_last=True", mark="  # found")),
    Example("""
import torch
from torch.utils.data import DataLoader

@torch.no_grad()
def main(model, data):
    loader = DataLoader(data, 64, shuffle=False, drop_last=True)  # found
    model.eval()
    return [model(x).argmax(1).tolist() for x in loader] or run(model, loader)

@torch.no_grad()
def run(model, loader):
    model.eval()
    for i, (x, y) in enumerate(loader):
        print((model(x).argmax(1) == y).sum().item())
"""),
)
GOOD = (
    Example(_BODY.format(given="", mark="")),
    Example(_BODY.format(given=", drop_last=False", mark="")),
    Example(
        "from torch.utils.data import DataLoader\n\n\ndef make(data):\n    return DataLoader(data, drop_last=True)\n"
    ),
)
