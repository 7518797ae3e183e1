"""A file of the project bears the name of a library that the project imports from.

Why: Python finds the file before the library, and the import fails: cannot import name … from partially initialized module.
Refuted by: the file binds what is imported from it, a file that lies deeper than the script that imports, or in a package.
Holds for: Python, all versions.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.scopes import scopes_of
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "file-shadows-library"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Libraries whose names people give to their own files, and one name each that only the library exports.
KNOWN = {
    "torch": ("nn", "Tensor", "optim"),
    "transformers": ("AutoTokenizer", "AutoModel", "Trainer", "pipeline"),
    "datasets": ("load_dataset", "Dataset", "load_from_disk", "concatenate_datasets"),
    "evaluate": ("load",),
    "accelerate": ("Accelerator",),
    "vllm": ("LLM", "SamplingParams"),
    "peft": ("LoraConfig", "get_peft_model"),
    "trl": ("SFTTrainer", "SFTConfig"),
    "wandb": ("init", "log"),
    "numpy": ("array", "ndarray"),
    "random": ("seed", "shuffle", "randint", "choice"),
    "logging": ("getLogger", "basicConfig"),
    "json": ("loads", "dumps"),
    "tokenizers": ("Tokenizer",),
}


def find(code: Code) -> Iterator[Finding]:
    own = {os.path.splitext(os.path.basename(m.path))[0]: m for m in code.modules}
    for library in sorted(set(own) & set(KNOWN)):
        for module in code.modules:
            for node in module.nodes(ast.ImportFrom):
                if (
                    node.level
                    or node.module != library
                    or code.project.import_target(module, library) is not own[library]
                    or not _is_first(own[library], module)
                ):
                    continue
                missing = [
                    a.name
                    for a in node.names
                    if a.name in KNOWN[library] and not _binds(own[library], a.name)
                ]
                if missing:
                    text = f"{own[library].name} is found before the library {library}, and does not have {missing[0]}"
                    yield finding(SLUG, CATEGORY, module, node, text, argument=library)


def _is_first(own: Module, module: Module) -> bool:
    """Whether Python looks there before it looks for libraries: in the folder of the script, which is no package.

    Files of folders beside or below are looked at only under the names of their packages.
    """
    folder = os.path.dirname(own.path)
    return os.path.dirname(module.path) == folder and not os.path.isfile(os.path.join(folder, "__init__.py"))


def _binds(module: Module, name: str) -> bool:
    scopes = scopes_of(module)
    imported = any(
        node.module == os.path.splitext(os.path.basename(module.path))[0]
        for node in module.nodes(ast.ImportFrom)
    )
    return scopes.stars or (name in scopes.bound[module.tree] and not imported)


BAD = (
    Example(
        "from datasets import load_dataset  # found\n\nload_dataset('x')\n",
        files={"datasets.py": "class Mine:\n    pass\n"},
    ),
    Example(
        "from transformers import AutoTokenizer  # found\n",
        files={"transformers.py": "VERSION = 1\n"},
    ),
)
GOOD = (
    Example("from datasets import Mine\n", files={"datasets.py": "class Mine:\n    pass\n"}),
    Example("from datasets import load_dataset\n", files={"data.py": "X = 1\n"}),
    Example(
        "from datasets import load_dataset\n",
        files={"datasets.py": "def load_dataset(name):\n    return name\n"},
    ),
    Example(
        "import torch\nfrom lib.layers import layer\n",
        files={
            "lib/__init__.py": "",
            "lib/layers.py": "from torch import nn\n\nlayer = nn.Linear(2, 2)\n",
            "lib/torch.py": "VERSION = 1\n",
        },
    ),
)
