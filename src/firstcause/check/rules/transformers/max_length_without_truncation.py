"""Texts are padded to a length that longer texts are not cut to.

Why: max_length alone pads and does not truncate: the first longer text makes a batch of unequal lengths, which raises.
Refuted by: truncation given, no padding to max_length.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "max-length-without-truncation"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if not code.imports("transformers"):
        return
    for module in code.modules:
        for node in module.nodes(ast.Call) if "max_length" in module.text else ():
            named = {k.arg: k.value for k in node.keywords}
            if "padding" not in named or "max_length" not in named or "truncation" in named or None in named:
                continue
            padding, length = (
                code.constant(module, named["padding"]),
                code.constant(module, named["max_length"]),
            )
            if padding is None or padding.value != "max_length" or not _takes_texts(node):
                continue
            shown = f"={length.value}" if length is not None else ""
            text = f"padded to max_length{shown} and longer texts are not cut: truncation=True is missing"
            yield finding(SLUG, CATEGORY, module, named["max_length"], text, argument="truncation")


def _takes_texts(node: ast.Call) -> bool:
    """Not tokenizer.pad, which cannot cut, and not a class that only stores its settings."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return bool(node.args) and name not in ("pad", "from_pretrained") and not name[:1].isupper()


_BODY = """
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("bert-base-uncased")

def encode(rows):
    return tok(rows["text"], {given}){mark}
"""
BAD = (
    Example(_BODY.format(given='padding="max_length", max_length=128', mark="  # found")),
    Example(_BODY.format(given='max_length=64, padding="max_length", return_tensors="pt"', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(given='padding="max_length", max_length=128, truncation=True', mark="")),
    Example(_BODY.format(given="padding=True", mark="")),
    Example("""
from transformers import DataCollatorWithPadding

def make(tok):
    return DataCollatorWithPadding(tok, padding="max_length", max_length=128)
"""),
)
