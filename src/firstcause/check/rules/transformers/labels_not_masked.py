"""Labels are a copy of input ids, or filled up with a token: padding, or a prompt that was to be left out, is a target.

Why: the loss falls by learning to predict padding, or the question instead of the answer; -100 leaves a position out.
Refuted by: -100 or an ignore_index anywhere, a collator that masks, texts that are not padded here.
Holds for: transformers, trl, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.padded_labels import masks, padded_labels
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "labels-not-masked"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The collator overwrites labels and masks padding itself; of the prompt it knows nothing.
OF_PADDING = ("transformers.DataCollatorForLanguageModeling",)
OF_PROMPTS = ("trl.DataCollatorForCompletionOnlyLM", "unsloth.chat_templates.train_on_responses_only")
PADDED = ("max_length", True, "longest")
COPIES = frozenset({"clone", "copy", "detach", "tolist"})
COPIERS = frozenset({"list", "copy", "deepcopy", "tensor", "array", "LongTensor", "as_tensor", "asarray"})


def find(code: Code) -> Iterator[Finding]:
    if code.calls(*OF_PROMPTS) or code.methods_and_calls("train_on_responses_only") or _masks(code):
        return
    asked = [i for i in code.asked("completion_only") if i.polarity == "require" and i.value is True]
    collators = code.calls(*OF_PADDING)
    if asked:
        yield from _counted(code, collators)
    if collators:
        return
    values = [(module, v) for module in code.modules for _, v in _labels(module)]
    for module, padding in padded_labels(code, values):
        text = "labels are padded with a token here, and nothing sets it to -100: padding counts as a target"
        yield finding(SLUG, CATEGORY, module, padding, text, key="completion_only" if asked else "")
    for module in code.modules:
        for node, value in _labels(module):
            if not _is_input_ids(code, module, value):
                continue
            if _padded(code, module, value):
                text = "labels are a copy of the padded input ids: padding counts as a target; it should be -100 there"
                yield finding(SLUG, CATEGORY, module, node, text, key="completion_only" if asked else "")
            elif asked:
                text = "labels are a copy of the whole input ids: the prompt counts as a target; it should be -100 there"
                yield finding(SLUG, CATEGORY, module, node, text, key="completion_only")


def _counted(code: Code, collators: list[Call]) -> Iterator[Finding]:
    """What makes every token a target, where the answer alone was asked for: the collator, or the settings of trl."""
    for call in collators:
        mlm = call.constant("mlm", 1)
        if mlm is not None and mlm.value is False:
            text = "this collator makes every token a target, the prompt too; labels with -100 there leave it out"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, key="completion_only")
    for call in code.calls("trl.SFTConfig"):
        silent = any(call.may_have(n) for n in ("completion_only_loss", "assistant_only_loss"))
        if not silent and _holds_whole_texts(code):
            text = (
                "every token of a text or of a chat is a target; "
                "assistant_only_loss=True, or columns prompt and completion, leave the prompt out"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text, key="completion_only")


def _holds_whole_texts(code: Code) -> bool:
    """Whether the examples are surely texts or chats: of a prompt with its completion trl leaves the prompt out itself."""
    written = {n.value for m in code.modules for n in m.nodes(ast.Constant) if isinstance(n.value, str)}
    if {"prompt", "completion"} <= written:
        return False
    formatted = any(c.may_have("formatting_func") for c in code.calls("trl.SFTTrainer"))
    return formatted or any(c.may_have("dataset_text_field") for c in code.calls("trl.SFTConfig"))


def _labels(module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What is stored under the key or passed as the argument ``labels``."""
    if "labels" not in module.text:
        return
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
    for call in module.nodes(ast.Call):
        name = last_name(call.func)
        for keyword in call.keywords if name in ("dict", "update", "BatchEncoding") else ():
            if keyword.arg == "labels":
                yield keyword.value, keyword.value
        if name == "add_column" and len(call.args) == 2 and getattr(call.args[0], "value", "") == "labels":
            yield call, call.args[1]


def _is_input_ids(code: Code, module: Module, value: ast.expr, deep: bool = True) -> bool:
    """input_ids themselves, a clone or copy of them, or a name for them."""
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in COPIES:
            return _is_input_ids(code, module, value.func.value, deep)
        copied = last_name(value.func) in COPIERS and len(value.args) > 0
        return copied and _is_input_ids(code, module, value.args[0], deep)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        # ``[ids.copy() for ids in out["input_ids"]]``
        part = value.generators[0]
        names = {n.id for n in ast.walk(value.elt) if isinstance(n, ast.Name)} - {"list", "copy"}
        plain = len(value.generators) == 1 and not part.ifs and not isinstance(value.elt, ast.IfExp)
        same = isinstance(part.target, ast.Name) and names == {part.target.id}
        return plain and same and _is_input_ids(code, module, part.iter, deep)
    if isinstance(value, ast.Subscript):
        if isinstance(value.slice, ast.Slice):
            whole = value.slice.lower is None and value.slice.upper is None
            return whole and _is_input_ids(code, module, value.value, deep)
        return isinstance(value.slice, ast.Constant) and value.slice.value == "input_ids"
    if isinstance(value, ast.Attribute):
        return value.attr == "input_ids"
    if not isinstance(value, ast.Name):
        return False
    if value.id == "input_ids":
        return True
    found = [(o.module, o.node) for o in code.origins(module, value)] if deep else []
    return bool(found) and all(
        isinstance(n, ast.expr) and n is not value and _is_input_ids(code, m, n, False) for m, n in found
    )


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
    """Whether -100 is written anywhere, other than to compare with, or an index to leave out: somebody masks."""
    return masks(code) or any(
        k.arg == "ignore_index" for m in code.modules for n in m.nodes(ast.Call) for k in n.keywords
    )


_BODY = """
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-1.5B")

def encode(row):
    out = tok(row["text"], truncation=True, max_length=512{padding})
    {labels}
    return out
"""
_COLLATE = """
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import Trainer, TrainingArguments

class Collate:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, rows):
        batch = self.tokenizer.pad([{"input_ids": r["input_ids"]} for r in rows], return_tensors="pt")
        {labels}
        batch["labels"] = labels
        return batch

def main(model, data, tokenizer, metric):
    def scores(p):
        ids = p.label_ids
        ids[ids == -100] = tokenizer.pad_token_id
        return metric(ids)

    Trainer(model=model, train_dataset=data, data_collator=Collate(tokenizer), compute_metrics=scores).train()
"""


def _collate(*lines: str) -> Example:
    return Example(_COLLATE.replace("{labels}", "\n        ".join(lines)))


_PAD = 'self.tokenizer.pad([{"input_ids": r["labels"]} for r in rows], return_tensors="pt")'
_ROWS = '[torch.tensor(r["labels"]) for r in rows]'
BAD = (
    Example(
        _BODY.format(
            padding=', padding="max_length"', labels='out["labels"] = out["input_ids"].copy()  # found'
        )
    ),
    Example("""
def encode(row):
    enc = tokenizer(row["question"] + row["answer"], truncation=True, padding="max_length")
    enc["labels"] = list(enc["input_ids"])  # found
    return enc
"""),
    Example(
        _BODY.format(padding="", labels='out["labels"] = out["input_ids"][:]  # found'),
        asked={"completion_only": True},
    ),
    Example(
        _BODY.format(
            padding="",
            labels='ids = out["input_ids"]\n    out.update(labels=ids)  # found',
        ),
        asked={"completion_only": True},
    ),
    Example(
        """
from transformers import DataCollatorForLanguageModeling, Trainer

def fit(model, tok, data):
    collate = DataCollatorForLanguageModeling(tok, mlm=False)  # found
    Trainer(model=model, train_dataset=data, data_collator=collate).train()
""",
        asked={"completion_only": True},
    ),
    Example(
        """
from trl import SFTConfig, SFTTrainer

def fit(model, data, write):
    SFTTrainer(model=model, args=SFTConfig(output_dir="out"), train_dataset=data, formatting_func=write).train()  # found
""",
        asked={"completion_only": True},
    ),
    Example("""
def item(tokenizer, text):
    encoded = tokenizer(text, padding="max_length", max_length=128, return_tensors="pt")
    input_ids = encoded["input_ids"].squeeze(0)
    return {"input_ids": input_ids, "labels": input_ids.clone()}  # found
"""),
    _collate(
        f'labels = {_PAD}["input_ids"]  # found', "if labels.shape[1] > 9:", "    labels = labels[:, 1:]"
    ),
    _collate(f"target = {_PAD}  # found", "labels = target.input_ids.clone()"),
    _collate(f"labels = pad_sequence({_ROWS}, batch_first=True)  # found"),
    _collate(f"labels = pad_sequence({_ROWS}, True, self.tokenizer.pad_token_id)  # found"),
    _collate(
        "most = max(len(r['labels']) for r in rows)",
        "filled = [r['labels'] + [self.tokenizer.pad_token_id] * (most - len(r['labels'])) for r in rows]  # found",
        "labels = torch.tensor(filled)",
    ),
)
GOOD = (
    Example(
        _BODY.format(padding=', padding="max_length"', labels='out["labels"] = list(out["input_ids"])')
        + "\nimport torch\nloss = torch.nn.CrossEntropyLoss(ignore_index=tok.pad_token_id)\n"
    ),
    Example(
        """
from trl import SFTConfig, SFTTrainer

def fit(model, data):
    data = data.map(lambda row: {"prompt": row["question"], "completion": row["answer"]})
    SFTTrainer(model=model, args=SFTConfig(output_dir="out"), train_dataset=data).train()
""",
        asked={"completion_only": True},
    ),
    Example(
        """
from trl import SFTConfig, SFTTrainer

def fit(model, data):
    settings = SFTConfig(output_dir="out", assistant_only_loss=True)
    SFTTrainer(model=model, args=settings, train_dataset=data).train()
""",
        asked={"completion_only": True},
    ),
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
    _collate(f"labels = pad_sequence({_ROWS}, batch_first=True, padding_value=-100)"),
    _collate(
        f'labels = {_PAD}["input_ids"]',
        "labels = labels.masked_fill(labels == self.tokenizer.pad_token_id, -100)",
    ),
    _collate(f"labels = pad_sequence({_ROWS}, True, self.tokenizer.label_pad_token_id)"),
    _collate(f"labels = pad_sequence({_ROWS}, True)", "labels[labels == 0] = self.ignored"),
    _collate("labels = torch.tensor([r['label'] for r in rows])"),
    Example(
        _COLLATE.replace("{labels}", f"labels = pad_sequence({_ROWS}, True)")
        + "\nclass Own(Trainer):\n    def compute_loss(self, model, inputs):\n        return masked(model, inputs)\n"
    ),
)
