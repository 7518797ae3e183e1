"""Labels are a copy of padded input ids.

Why: padding positions count as targets, so the loss falls by learning to predict padding; -100 leaves them out.
Refuted by: -100 put where the mask is 0, a collator that masks, texts that are not padded here.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "labels-not-masked"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The collator overwrites labels and masks padding itself.
COLLATORS = ("transformers.DataCollatorForLanguageModeling", "trl.DataCollatorForCompletionOnlyLM")
PADDED = ("max_length", True, "longest")


def find(code: Code) -> Iterator[Finding]:
    if code.calls(*COLLATORS) or _masks(code):
        return
    for module in code.modules:
        for node, value in _labels(module):
            if not _is_input_ids(value) or not _padded(code, module, value):
                continue
            text = "labels are a copy of the padded input ids: padding counts as a target; it should be -100 there"
            yield finding(SLUG, CATEGORY, module, node, text)


def _labels(module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What is stored under the key or passed as the argument ``labels``."""
    for display in module.nodes(ast.Dict):
        for key, value in zip(display.keys, display.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "labels":
                yield value, value
    for assign in module.nodes(ast.Assign):
        for target in assign.targets:
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == "labels"
            ):
                yield assign, assign.value


def _is_input_ids(value: ast.expr) -> bool:
    """input_ids themselves, or a clone or copy of them."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in ("clone", "copy", "detach")
    ):
        return _is_input_ids(value.func.value)
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Constant) and value.slice.value == "input_ids"
    if isinstance(value, ast.Attribute):
        return value.attr == "input_ids"
    return isinstance(value, ast.Name) and value.id == "input_ids"


def _padded(code: Code, module: Module, value: ast.expr) -> bool:
    """Whether the function around pads when it tokenizes."""
    function = module.function(value)
    for node in ast.walk(function) if function is not None else ():
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            known = code.constant(module, keyword.value) if keyword.arg == "padding" else None
            if known is not None and known.value in PADDED:
                return True
    return False


def _masks(code: Code) -> bool:
    """Whether -100 is written anywhere: somebody masks."""
    return any(
        isinstance(n.op, ast.USub) and isinstance(n.operand, ast.Constant) and n.operand.value == 100
        for m in code.modules
        for n in m.nodes(ast.UnaryOp)
    )


_BODY = """
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-1.5B")

def encode(row):
    out = tok(row["text"], truncation=True, max_length=512{padding})
    {labels}
    return out
"""
BAD = (
    Example(
        _BODY.format(
            padding=', padding="max_length"', labels='out["labels"] = out["input_ids"].copy()  # found'
        )
    ),
    Example("""
def item(tokenizer, text):
    encoded = tokenizer(text, padding="max_length", max_length=128, return_tensors="pt")
    input_ids = encoded["input_ids"].squeeze(0)
    return {"input_ids": input_ids, "labels": input_ids.clone()}  # found
"""),
)
GOOD = (
    Example(_BODY.format(padding="", labels='out["labels"] = out["input_ids"].copy()')),
    Example(
        _BODY.format(
            padding=', padding="max_length"',
            labels='out["labels"] = [t if m else -100 for t, m in zip(out["input_ids"], out["attention_mask"])]',
        )
    ),
    Example("""
from transformers import DataCollatorForLanguageModeling

def encode(tok, row):
    out = tok(row["text"], padding="max_length")
    out["labels"] = out["input_ids"].copy()
    return out

collate = DataCollatorForLanguageModeling(None, mlm=False)
"""),
)
