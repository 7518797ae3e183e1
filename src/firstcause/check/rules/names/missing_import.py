"""A library is used that the file does not import.

Why: NameError, when the line is reached.
Refuted by: an import in any scope around, a star import, a name of the file's own.
Holds for: Python, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.imports import missing_import
from firstcause.check.rule import Example
from firstcause.check.scopes import unbound
from firstcause.schema.finding import Category, Finding

SLUG = "missing-import"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        seen: set[str] = set()
        for name in unbound(module):
            statement = missing_import(code, module, name)
            if statement and name.id not in seen:
                seen.add(name.id)
                text = f"{name.id} is used and not imported: {statement}"
                yield finding(SLUG, CATEGORY, module, name, text, argument=name.id)


BAD = (
    Example("""
import torch

def scores(logits):
    return np.argmax(logits, -1)  # found
"""),
    Example("""
def save(path, rows):
    with open(path, "w") as file:
        json.dump(rows, file)  # found
"""),
    Example("""
from transformers import AutoModelForCausalLM

tok = AutoTokenizer.from_pretrained("gpt2")  # found
"""),
)
GOOD = (
    Example("""
def scores(logits):
    import numpy as np
    return np.argmax(logits, -1)
"""),
    Example("""
def run(time, F):
    return time.now(), F(2)
"""),
    Example("""
try:
    import wandb
except ImportError:
    wandb = None

if wandb is not None:
    wandb.init()
"""),
)
