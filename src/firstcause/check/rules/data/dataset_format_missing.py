"""A loader reads tokenised rows of lists and puts them together by the default way.

Why: default_collate makes, of lists of numbers, a list of tensors the wrong way round: the model gets no tensor, and raises.
Refuted by: set_format or with_format, a collate_fn, tensors made in the mapping function of a dataset of one's own.
Holds for: datasets, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "dataset-format-missing"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

FORMATS = {"set_format", "with_format", "set_transform", "with_transform", "to_iterable_dataset", "prepare"}
HANDED_ON = {
    ".map",
    ".filter",
    ".shuffle",
    ".select",
    ".rename_column",
    ".remove_columns",
    ".train_test_split",
}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & FORMATS or not code.imports("datasets"):
        return
    for call in code.calls("torch.utils.data.DataLoader"):
        value = call.argument("dataset", 0)
        if value is None or call.may_have("collate_fn") or len(call.node.args) > 6:
            continue
        mapped = _mapped(code, call, value.node)
        if mapped is not None and _tokenises(code, mapped):
            text = 'rows of token lists go through the default collate; with_format("torch") or a padding collator makes tensors'
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, argument="collate_fn", related=(mapped.site,)
            )


def _mapped(code: Code, call: Call, node: ast.expr) -> Call | None:
    """The map call that a loader's rows come from, when they start with load_dataset."""
    module, found = call.module, None
    for _ in range(8):
        while isinstance(node, ast.Subscript):
            node = node.value
        made = maker(code, module, node)
        if made is None:
            return None
        if made.name in ("datasets.load_dataset", "datasets.load.load_dataset"):
            return found
        if made.name not in HANDED_ON or made.receiver is None:
            return None
        found = made if made.name == ".map" and found is None else found
        module, node = made.module, made.receiver
    return None


def _tokenises(code: Code, mapped: Call) -> bool:
    """Whether the mapped function calls a tokenizer that is loaded here, without asking for tensors."""
    function = mapped.node.args[0] if mapped.node.args else None
    if function is None:
        return False
    for origin in code.origins(mapped.module, function):
        for node in ast.walk(origin.node):
            if isinstance(node, ast.Call) and not any(k.arg == "return_tensors" for k in node.keywords):
                owner = maker(code, origin.module, node.func)
                if owner is not None and "Tokenizer" in ast.unparse(owner.node.func):
                    return True
    return False


_BODY = """
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorWithPadding

tok = AutoTokenizer.from_pretrained("bert-base-uncased")
data = load_dataset("imdb", split="train")
data = data.map(lambda rows: tok(rows["text"], truncation=True, padding="max_length"), batched=True)
{more}
loader = DataLoader(data, batch_size=8, shuffle=True{given}){mark}
"""
BAD = (
    Example(_BODY.format(more="", given="", mark="  # found")),
    Example(
        _BODY.format(more='data = data.remove_columns(["text"])', given=", num_workers=2", mark="  # found")
    ),
)
GOOD = (
    Example(_BODY.format(more='data = data.with_format("torch")', given="", mark="")),
    Example(_BODY.format(more="", given=", collate_fn=DataCollatorWithPadding(tok)", mark="")),
    Example(
        _BODY.format(more="data = data.map(len)", given="", mark="")
        .replace("tok(rows", "len(rows")
        .replace(', truncation=True, padding="max_length"', "")
    ),
)
