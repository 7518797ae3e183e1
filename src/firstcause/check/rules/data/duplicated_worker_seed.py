"""A data set draws from a generator that each worker process gets a copy of.

Why: the copies are in the same state: all workers draw the same numbers, and each epoch draws them again.
Refuted by: no workers, a generator made in the worker, torch's own random numbers (seeded for each worker).
Holds for: torch with numpy, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "duplicated-worker-seed"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

MAKERS = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "numpy.random.Generator")


def find(code: Code) -> Iterator[Finding]:
    workers = [
        c for c in code.calls("torch.utils.data.DataLoader") if _has_workers(c.constant("num_workers", 5))
    ]
    if (
        not workers
        or any(c.may_have("worker_init_fn") for c in workers)
        or "get_worker_info" in code.called_names()
    ):
        return
    for dataset in code.subclasses_of("torch.utils.data.Dataset"):
        assert isinstance(dataset.node, ast.ClassDef)
        methods = {n.name: n for n in dataset.node.body if isinstance(n, ast.FunctionDef)}
        init, item = methods.get("__init__"), methods.get("__getitem__")
        for assign in ast.walk(init) if init is not None and item is not None else ():
            if not isinstance(assign, ast.Assign) or not isinstance(assign.value, ast.Call):
                continue
            target = assign.targets[0]
            if (
                (
                    isinstance(target, ast.Attribute)
                    and call_of(code, dataset.module, assign.value).name in MAKERS
                )
                and item is not None
                and _reads(item, target.attr)
            ):
                text = f"self.{target.attr} is copied into every worker: all of them draw the same numbers"
                yield finding(SLUG, CATEGORY, dataset.module, assign, text, related=(workers[0].site,))


def _has_workers(known: object) -> bool:
    value = getattr(known, "value", 0)
    return isinstance(value, int) and value > 1


def _reads(item: ast.FunctionDef, attribute: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == attribute for n in ast.walk(item))


_BODY = """
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.rng = {rng}{mark}

    def __len__(self):
        return 9

    def __getitem__(self, i):
        return self.rng.normal()

loader = DataLoader(Rows(), batch_size=4, num_workers={workers})
"""
BAD = (
    Example(_BODY.format(rng="np.random.default_rng(0)", mark="  # found", workers=4)),
    Example(_BODY.format(rng="np.random.RandomState(3)", mark="  # found", workers=2)),
)
GOOD = (
    Example(_BODY.format(rng="np.random.default_rng(0)", mark="", workers=0)),
    Example(_BODY.format(rng="np.random.default_rng(0)", mark="", workers="4, worker_init_fn=print")),
    Example(_BODY.format(rng="make()", mark="", workers=4)),
)
