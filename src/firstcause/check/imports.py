"""Names that stand for a library by convention or by its exports, and what a file imports."""

from __future__ import annotations

import ast
import sys

from firstcause.check.code import Code
from firstcause.check.signatures import table
from firstcause.source.module import Module

# The names under which libraries are known; those of the standard library are known by themselves.
ALIASES = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "pd": "import pandas as pd",
    "pandas": "import pandas",
    "plt": "import matplotlib.pyplot as plt",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "dist": "import torch.distributed as dist",
    "torchvision": "import torchvision",
    "transforms": "from torchvision import transforms",
    "DataLoader": "from torch.utils.data import DataLoader",
    "Dataset": "from torch.utils.data import Dataset",
    "DDP": "from torch.nn.parallel import DistributedDataParallel as DDP",
    "tqdm": "from tqdm import tqdm",
    "wandb": "import wandb",
    "transformers": "import transformers",
    "evaluate": "import evaluate",
    "accelerate": "import accelerate",
    "sklearn": "import sklearn",
    "Path": "from pathlib import Path",
    "defaultdict": "from collections import defaultdict",
    "partial": "from functools import partial",
    "deepcopy": "from copy import deepcopy",
    "dataclass": "from dataclasses import dataclass",
    "load_dataset": "from datasets import load_dataset",
}
LIBRARIES = ("transformers", "peft", "trl", "accelerate", "vllm", "datasets")


def missing_import(code: Code, module: Module, name: ast.Name) -> str:
    """The import that a name which nothing binds stands for; empty where it is no library's name."""
    if name.id in ALIASES:
        return ALIASES[name.id]
    parent = module.parents.get(name)
    used = isinstance(parent, ast.Attribute) and parent.value is name
    if used and name.id in sys.stdlib_module_names:
        return f"import {name.id}"
    for library in LIBRARIES:
        found = (
            table(library) if len(name.id) > 5 and name.id[:1].isupper() and code.imports(library) else None
        )
        span = found.exports.get(name.id) if found is not None else None
        if found is not None and span is not None and span[1] == len(found.versions) - 1:
            return f"from {library} import {name.id}"
    return ""


def is_missing_import(code: Code, module: Module, name: ast.Name) -> bool:
    return bool(missing_import(code, module, name))
