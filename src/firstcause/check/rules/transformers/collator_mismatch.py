"""A collator that prepares another kind of labels than the model is trained on.

Why: the causal collator replaces the targets by a copy of the inputs; the plain padding one leaves label lists of unequal length.
Refuted by: a collator of the task, labels padded to one length by the tokenizer, a function as the collator.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import family
from firstcause.check.code import Call, Code, finding
from firstcause.check.loaded import loaded_class
from firstcause.check.makers import given_maker
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "collator-mismatch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

LANGUAGE, PADDING = "DataCollatorForLanguageModeling", "DataCollatorWithPadding"
SEQ2SEQ = ("ForSeq2SeqLM", "ForConditionalGeneration")


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        collator = given_maker(run.call, "data_collator", 2)
        if collator is None or run.model is None or not run.model.name.endswith("from_pretrained"):
            continue
        text = _wrong(code, run.model, collator)
        if text:
            yield finding(SLUG, CATEGORY, collator.module, collator.node, text, related=(run.model.site,))


def _wrong(code: Code, model: Call, collator: Call) -> str:
    owner, kind = loaded_class(model), collator.name.rpartition(".")[2]
    checkpoint = model.constant("pretrained_model_name_or_path", 0)
    known = family(checkpoint.value) if checkpoint is not None and isinstance(checkpoint.value, str) else None
    seq2seq = owner.endswith(SEQ2SEQ) or (known is not None and known.kind == "encoder-decoder")
    if kind == LANGUAGE and seq2seq:
        return (
            f"{kind} makes the labels a copy of the inputs; an encoder-decoder needs DataCollatorForSeq2Seq"
        )
    if (
        kind == LANGUAGE
        and owner.endswith("ForCausalLM")
        and _masks(collator)
        and known
        and known.kind == "decoder"
    ):
        return (
            f"{kind} masks words for a masked model unless it gets mlm=False; {owner} predicts the next token"
        )
    if kind == LANGUAGE and owner.endswith(("ForSequenceClassification", "ForTokenClassification")):
        return f"{kind} replaces the class labels by token ids; {owner} needs a padding collator"
    if kind == PADDING and (seq2seq or owner.endswith("ForTokenClassification")) and not _padded(code):
        better = "DataCollatorForSeq2Seq" if seq2seq else "DataCollatorForTokenClassification"
        return (
            f"{kind} pads inputs and not labels, which are lists of unequal length here; {better} pads both"
        )
    return ""


def _masks(collator: Call) -> bool:
    given = collator.constant("mlm", 1)
    return not collator.may_have("mlm") if given is None else given.value is True


def _padded(code: Code) -> bool:
    """Whether any text is padded to one length before it reaches the collator."""
    return any(
        k.arg == "padding" and not (isinstance(k.value, ast.Constant) and k.value.value is False)
        for m in code.modules
        for k in m.nodes(ast.keyword)
    )


_BODY = """
from transformers import {cls}, {collator}, Trainer

model = {cls}.from_pretrained("{name}")

def run(tok, data, args):
    collate = {collator}(tok{more}){mark}
    Trainer(model=model, args=args, train_dataset=data, data_collator=collate).train()
"""


def _body(cls: str, name: str, collator: str, more: str = "", mark: str = "  # found") -> Example:
    return Example(_BODY.format(cls=cls, name=name, collator=collator, more=more, mark=mark))


BAD = (
    _body("AutoModelForSeq2SeqLM", "google/flan-t5-base", "DataCollatorForLanguageModeling", ", mlm=False"),
    _body("AutoModelForTokenClassification", "bert-base-cased", "DataCollatorWithPadding"),
    _body("AutoModelForCausalLM", "gpt2", "DataCollatorForLanguageModeling"),
)
GOOD = (
    _body("AutoModelForSeq2SeqLM", "google/flan-t5-base", "DataCollatorForSeq2Seq", mark=""),
    _body("AutoModelForCausalLM", "gpt2", "DataCollatorForLanguageModeling", ", mlm=False", ""),
    _body("AutoModelForMaskedLM", "bert-base-cased", "DataCollatorForLanguageModeling", mark=""),
    _body("AutoModelForSequenceClassification", "bert-base-cased", "DataCollatorWithPadding", mark=""),
)
