"""A data set opens a file once, and forked workers read it through the same handle.

Why: the workers share one position in the file: they read parts of each other's samples; HDF5 files break.
Refuted by: the file opened in the worker, no workers, memory maps.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "file-handle-shared-by-forked-workers"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

OPENS = (
    "builtins.open",
    "io.open",
    "h5py.File",
    "zipfile.ZipFile",
    "tarfile.open",
    "sqlite3.connect",
    "gzip.open",
)


def find(code: Code) -> Iterator[Finding]:
    loaders = [c for c in code.calls("torch.utils.data.DataLoader") if _workers(c.constant("num_workers", 5))]
    if not loaders or any(c.may_have("worker_init_fn") for c in loaders):
        return
    for dataset in code.subclasses_of("torch.utils.data.Dataset"):
        assert isinstance(dataset.node, ast.ClassDef)
        methods = {n.name: n for n in dataset.node.body if isinstance(n, ast.FunctionDef)}
        init, item = methods.get("__init__"), methods.get("__getitem__")
        for node in ast.walk(init) if init is not None and item is not None else ():
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            target, call = node.targets[0], call_of(code, dataset.module, node.value)
            opened = call.name in OPENS and isinstance(target, ast.Attribute) and item is not None
            if (
                opened
                and isinstance(target, ast.Attribute)
                and item is not None
                and _reads(item, target.attr)
            ):
                text = f"self.{target.attr} is opened once and read by every worker; open it at the first read in each"
                yield finding(SLUG, CATEGORY, dataset.module, node, text, related=(loaders[0].site,))


def _workers(known: object) -> bool:
    value = getattr(known, "value", 0)
    return isinstance(value, int) and value > 0


def _reads(item: ast.FunctionDef, attribute: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == attribute for n in ast.walk(item))


_BODY = """
import h5py
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.file = {opened}{mark}

    def __len__(self):
        return 9

    def __getitem__(self, i):
        return self.file["x"][i]

loader = DataLoader(Rows("x.h5"), batch_size=4, num_workers={workers})
"""
BAD = (
    Example(_BODY.format(opened='h5py.File(path, "r")', mark="  # found", workers=4)),
    Example(_BODY.format(opened='open(path, "rb")', mark="  # found", workers=1)),
)
GOOD = (
    Example(_BODY.format(opened='h5py.File(path, "r")', mark="", workers=0)),
    Example(_BODY.format(opened="None", mark="", workers=4)),
    Example(_BODY.format(opened='np.memmap(path, mode="r")', mark="", workers=4)),
)
