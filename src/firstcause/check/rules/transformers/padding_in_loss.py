"""A collator is told to fill up labels with a token: padded positions are targets like any other.

Why: the loss of transformers leaves out -100 and nothing else; the model learns to write padding, and the mean is diluted by it.
Refuted by: -100, a value that is left out, a loss of the program's own, which may leave the token out by its ignore_index, labels
that something masks on their way.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import maker
from firstcause.check.padded_labels import is_token, loss_of_transformers, masks
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.frames import Value
from firstcause.source.module import Module

SLUG = "padding-in-loss"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The collators that fill up labels, with the place of the argument that says by what.
COLLATORS = {"transformers.DataCollatorForSeq2Seq": 5, "transformers.DataCollatorForTokenClassification": 4}
FILLING = "label_pad_token_id"
TOKEN = re.compile(r"(?<!label_)(pad|eos|unk|bos)(_token)?_?(id|idx|index)$", re.IGNORECASE)
OF_A_TOKEN = frozenset({"convert_tokens_to_ids", "token_to_id"})
HOPS = 4


def find(code: Code) -> Iterator[Finding]:
    made = code.calls(*COLLATORS)
    if not made or not loss_of_transformers(code):
        return
    masked = masks(code)
    if masked and _pads_earlier(code):
        return
    for call in made:
        if masked and not _is_handed_over(code, call):
            continue
        for value in _fillings(code, call):
            if _is_token(code, value, HOPS):
                text = (
                    f"labels are filled up with {ast.unparse(value.node)} and not with -100, which is all that the loss "
                    f"leaves out: padding counts as a target; leave {FILLING} out"
                )
                yield finding(
                    SLUG,
                    CATEGORY,
                    value.module,
                    value.node,
                    text,
                    argument=FILLING,
                    related=(call.site,),
                )


def _fillings(code: Code, call: Call) -> Iterator[Value]:
    """What a collator fills labels up with, as it is made or set later."""
    given = call.argument(FILLING, COLLATORS[call.name])
    if given is not None:
        yield given
    for module in code.modules:
        for node in module.nodes(ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == FILLING:
                owner = maker(code, module, target.value)
                if owner is not None and owner.node is call.node:
                    yield Value(module, node.value)


def _is_token(code: Code, value: Value, hops: int) -> bool:
    """Whether a value is a token's number on every way; of ``a or b`` and ``a if c else b`` both are."""
    node = value.node
    known = code.constant(value.module, node) if not value.path else None
    if known is not None and known.value is not None:
        return type(known.value) is int and known.value >= 0
    if isinstance(node, ast.BoolOp):
        return all(_is_token(code, value.at(v), hops) for v in node.values)
    if isinstance(node, ast.IfExp):
        return all(_is_token(code, value.at(v), hops) for v in (node.body, node.orelse))
    if isinstance(node, ast.Call):
        inner = node.args[0] if node.args and last_name(node.func) in ("int", "abs") else None
        if inner is not None:
            return _is_token(code, value.at(inner), hops)
        return last_name(node.func) in OF_A_TOKEN
    origins = [o for o in code.origins(value.module, node) if o.node is not node] if not value.path else []
    if hops and origins:
        return all(
            isinstance(o.node, ast.expr) and _is_token(code, Value(o.module, o.node), hops - 1)
            for o in origins
        )
    return is_token(code, value.module, node) or bool(TOKEN.search(last_name(node)))


def _is_handed_over(code: Code, call: Call) -> bool:
    """Whether the trainer or the loader has the collator itself, so that nothing can mask what it gives."""
    given: list[tuple[Module, ast.expr]] = []
    for run in trainer_runs(code):
        value = run.call.argument("data_collator", 2)
        given += [(value.module, value.node)] if value is not None and not value.path else []
    for loader in code.methods_and_calls("DataLoader"):
        given += [(loader.module, k.value) for k in loader.node.keywords if k.arg == "collate_fn"]
    return any(o.node is call.node for module, node in given for o in code.origins(module, node))


def _pads_earlier(code: Code) -> bool:
    """Whether texts are made alike in length before the collator sees them."""
    return any(
        k.arg == "padding" and isinstance(k.value, ast.Constant) and k.value.value == "max_length"
        for m in code.modules
        for n in m.nodes(ast.Call)
        for k in n.keywords
    )


_CODE = """
from transformers import (
    AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, DataCollatorForTokenClassification, Seq2SeqTrainer,
)

def main(data, options, metric):
    tokenizer = AutoTokenizer.from_pretrained("t5-small")
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    {collator}
    Seq2SeqTrainer(model=model, train_dataset=data, data_collator=collator).train()
"""
_OWN = """
import torch
from transformers import DataCollatorForSeq2Seq, Trainer

class Own(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **more):
        labels = inputs.pop("labels")
        out = model(**inputs)
        ce = torch.nn.CrossEntropyLoss(ignore_index=self.processing_class.pad_token_id)
        loss = ce(out.logits.flatten(0, 1), labels.flatten())
        return (loss, out) if return_outputs else loss

def fit(model, tokenizer, data):
    collator = DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=tokenizer.pad_token_id)
    Own(model=model, train_dataset=data, data_collator=collator, processing_class=tokenizer).train()
"""


def _collator(*lines: str) -> Example:
    return Example(_CODE.replace("{collator}", "\n    ".join(lines)))


BAD = (
    _collator(
        "collator = DataCollatorForSeq2Seq(",
        "    tokenizer,",
        "    model=model,",
        "    label_pad_token_id=tokenizer.pad_token_id,  # found",
        ")",
    ),
    _collator(
        "filling = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id",
        "collator = DataCollatorForSeq2Seq(tokenizer, model, label_pad_token_id=filling)  # found",
    ),
    _collator(
        "collator = DataCollatorForTokenClassification(tokenizer, label_pad_token_id=0)  # found",
    ),
    _collator(
        "collator = DataCollatorForSeq2Seq(tokenizer)",
        "collator.label_pad_token_id = model.config.pad_token_id or 0  # found",
    ),
    _collator(
        # The prompt is masked by -100, what is filled up is not.
        "data = data.map(lambda r: {'input_ids': r['q'] + r['a'], 'labels': [-100] * len(r['q']) + r['a']})",
        "collator = DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=tokenizer.pad_token_id)  # found",
    ),
)
GOOD = (
    _collator("collator = DataCollatorForSeq2Seq(tokenizer, model=model, label_pad_token_id=-100)"),
    _collator("collator = DataCollatorForSeq2Seq(tokenizer, model=model, pad_to_multiple_of=8)"),
    _collator(
        "filling = -100 if options.ignore_padding else tokenizer.pad_token_id",
        "collator = DataCollatorForSeq2Seq(tokenizer, model=model, label_pad_token_id=filling)",
    ),
    _collator(
        "pad = DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=tokenizer.pad_token_id)",
        "def collator(rows):",
        "    batch = pad(rows)",
        "    batch['labels'][batch['labels'] == tokenizer.pad_token_id] = -100",
        "    return batch",
    ),
    Example(_OWN),
)
