"""A library that takes seconds to import is imported and never used.

Why: each start waits for it, each worker too, and the environment has to have it.
Refuted by: any use of the name, a re-export, an import for its side effects that says so, a guarded import.
Holds for: Python, all versions.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "unused-heavy-import"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}

HEAVY = frozenset(
    {
        "tensorflow",
        "torchvision",
        "torchaudio",
        "pandas",
        "sklearn",
        "scipy",
        "matplotlib",
        "cv2",
        "transformers",
        "jax",
        "keras",
        "seaborn",
        "spacy",
        "nltk",
        "gensim",
        "librosa",
        "deepspeed",
        "wandb",
        "lightning",
        "pytorch_lightning",
        "datasets",
        "vllm",
    }
)


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        if os.path.basename(module.path) == "__init__.py" or (
            "__all__" in module.text and any(n.id == "__all__" for n in module.nodes(ast.Name))
        ):
            continue
        for node in module.nodes(ast.Import):
            if any(isinstance(p, (ast.Try, ast.If)) for p in module.ancestors(node)) or "noqa" in module.line(
                node.lineno
            ):
                continue
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if (
                    alias.name.partition(".")[0] in HEAVY
                    and not _used(module, name)
                    and not _imported_from(code, module, name)
                ):
                    text = f"{alias.name} is imported and never used; it takes seconds at each start"
                    yield finding(SLUG, CATEGORY, module, alias, text, argument=name)


def _used(module: Module, name: str) -> bool:
    return any(n.id == name for n in module.nodes(ast.Name)) or any(
        name in str(c.value)
        for c in module.nodes(ast.Constant)
        if isinstance(c.value, str) and len(c.value) < 200
    )


def _imported_from(code: Code, module: Module, name: str) -> bool:
    """Whether another file takes the name from this one."""
    return any(
        alias.name in (name, "*") and other is not module
        for other in code.modules
        for node in other.nodes(ast.ImportFrom)
        for alias in node.names
    )


BAD = (
    Example("import torch\nimport tensorflow as tf  # found\n\nprint(torch.zeros(1))\n"),
    Example("import pandas as pd  # found\nimport torch\n\nprint(torch.ones(2))\n"),
)
GOOD = (
    Example("import pandas as pd\n\nprint(pd.read_csv('x.csv'))\n"),
    Example("import json\n"),
    Example("try:\n    import wandb\nexcept ImportError:\n    pass\n"),
)
