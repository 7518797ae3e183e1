"""A trainer is given a loader, or the words of a file, where it takes a data set.

Why: Trainer builds the loader itself; a DataLoader has no items by number and raises at the first batch.
Refuted by: a data set; a subclass of Trainer that takes loaders.
Holds for: transformers, trl.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import given_maker
from firstcause.check.rule import Example
from firstcause.check.trainers import OF_TRL, TRAINERS, trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "loader-as-dataset"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        if run.call.name not in (*TRAINERS, *OF_TRL):
            continue
        for name in ("train_dataset", "eval_dataset"):
            made = given_maker(run.call, name)
            if made is not None and made.name == "torch.utils.data.DataLoader":
                text = f"{name} is a DataLoader; the trainer takes the data set and makes the loader itself"
                yield finding(
                    SLUG, CATEGORY, run.call.module, run.call.node, text, argument=name, related=(made.site,)
                )


_BODY = """
from torch.utils.data import DataLoader
from transformers import Trainer

def main(model, args, data):
    loader = DataLoader(data, batch_size=8, shuffle=True)
    Trainer(model=model, args=args, {given}).train(){mark}
"""
BAD = (
    Example(_BODY.format(given="train_dataset=loader", mark="  # found")),
    Example(_BODY.format(given="train_dataset=data, eval_dataset=DataLoader(data)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(given="train_dataset=data", mark="")),
    Example(_BODY.format(given="train_dataset=loader.dataset", mark="")),
    Example("""
from torch.utils.data import DataLoader
from transformers import Trainer

class Mine(Trainer):
    pass

def main(model, args, data):
    Mine(model=model, args=args, train_dataset=DataLoader(data)).train()
"""),
)
