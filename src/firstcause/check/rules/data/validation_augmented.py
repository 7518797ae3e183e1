"""The data set of an evaluation is read through random transforms.

Why: each evaluation sees other images, harder ones than in use: figures are noisy and too low.
Refuted by: a pipeline of its own without random steps, averaging over augmentations on purpose.
Holds for: torchvision, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import call_of, given_maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "validation-augmented"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

# The parts of paths and the values of split= that name what is evaluated on.
HELD_OUT = re.compile(r"(^|[/_-])(val|valid|validation|test|dev)([/_-]|$)", re.IGNORECASE)


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls_within("torchvision.datasets."):
        pipeline = given_maker(call, "transform") if _held_out(call) else None
        if pipeline is None or not pipeline.name.endswith(".Compose"):
            continue
        drawn = sorted(set(_random(code, pipeline)))
        if drawn:
            text = f"the held-out images go through {', '.join(drawn)}: each evaluation sees others"
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, argument="transform", related=(pipeline.site,)
            )


def _held_out(call: Call) -> bool:
    """train=False, split="val", or a folder of that name."""
    train, split = call.constant("train"), call.constant("split")
    if train is not None:
        return train.value is False
    if split is not None:
        return isinstance(split.value, str) and bool(HELD_OUT.search(split.value))
    if not call.name.endswith((".ImageFolder", ".DatasetFolder")):
        return False
    root = call.argument("root", 0)
    path = call.code.text_of(root) if root is not None else None
    return path is not None and bool(HELD_OUT.search(str(path.value)))


def _random(code: Code, pipeline: Call) -> Iterator[str]:
    steps = pipeline.node.args[0] if pipeline.node.args else None
    for step in steps.elts if isinstance(steps, ast.List) else ():
        name = call_of(code, pipeline.module, step).name if isinstance(step, ast.Call) else ""
        last = name.rpartition(".")[2]
        if name.startswith("torchvision.") and last.startswith(
            ("Random", "ColorJitter", "AutoAugment", "TrivialAugment")
        ):
            yield last


_BODY = """
from torchvision import datasets, transforms as T

train_pipe = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])
plain = T.Compose([T.ToTensor()])
train = datasets.CIFAR10("data", train=True, transform=train_pipe)
val = {val}{mark}
"""
BAD = (
    Example(
        _BODY.format(val='datasets.CIFAR10("data", train=False, transform=train_pipe)', mark="  # found")
    ),
    Example(_BODY.format(val='datasets.ImageFolder("data/val", transform=train_pipe)', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(val='datasets.CIFAR10("data", train=False, transform=plain)', mark="")),
    Example(_BODY.format(val='datasets.ImageFolder("data/all", transform=train_pipe)', mark="")),
    Example(_BODY.format(val='datasets.ImageFolder("data/validated", transform=train_pipe)', mark="")),
)
