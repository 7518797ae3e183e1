"""A checkpoint is loaded with the class of another architecture.

Why: an encoder-decoder has no causal head and an encoder none that generates: loading raises, or the head is new and random;
a reward is one score of a text, for which a head for tokens has no place.
Refuted by: a class that fits, a checkpoint whose kind the name does not tell.
Holds for: transformers and trl, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import family
from firstcause.check.code import Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.loaded import loaded_class
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "wrong-model-class"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The kinds that have the head of an automatic class; encoders can be causal only when configured as decoders.
FITS = {
    "AutoModelForCausalLM": ("decoder",),
    "AutoModelForSeq2SeqLM": ("encoder-decoder",),
    "AutoModelForMaskedLM": ("encoder",),
}
RIGHT = {
    "encoder-decoder": "AutoModelForSeq2SeqLM",
    "decoder": "AutoModelForCausalLM",
    "encoder": "AutoModelForSequenceClassification, or the class of its task",
}


def find(code: Code) -> Iterator[Finding]:
    rewards = list(_without_score(code))
    yield from rewards
    told = {(f.site.file, f.site.line) for f in rewards}
    for call in model_calls(code):
        if (call.site.file, call.site.line) in told:
            continue
        owner = loaded_class(call)
        name = call.constant("pretrained_model_name_or_path", 0)
        if owner not in FITS or name is None or not isinstance(name.value, str):
            continue
        known = family(name.value)
        if known is None or known.kind in FITS[owner] or call.may_have("config"):
            continue
        text = f"{name.value} is an {known.kind} model and {owner} for {' or '.join(FITS[owner])} ones; {RIGHT[known.kind]} fits"
        yield finding(
            SLUG, CATEGORY, call.module, call.node, text, asked=RIGHT[known.kind].partition(",")[0], got=owner
        )


def _without_score(code: Code) -> Iterator[Finding]:
    """A model with a head for tokens where a reward is trained: it has no one score of a text."""
    trainers = code.calls("trl.RewardTrainer")
    if not trainers or any(_puts_head(m) for m in code.modules):
        return
    made = {call.node: call for call in model_calls(code)}
    for trainer in trainers:
        given = trainer.argument("model", 0)
        origins = code.origins(given.module, given.node) if given is not None else []
        loads = [made[o.node] for o in origins if isinstance(o.node, ast.Call) and o.node in made]
        if len(loads) != len(origins) or not all(loaded_class(c) in FITS for c in loads):
            continue
        for call in loads:
            right = "AutoModelForSequenceClassification"
            text = (
                f"RewardTrainer trains one score for a text, and {loaded_class(call)} has a head for tokens; "
                f"{right}.from_pretrained(…, num_labels=1) fits"
            )
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, asked=right, got=loaded_class(call),
                related=(trainer.site,),
            )  # fmt: skip


def _puts_head(module: Module) -> bool:
    """Whether a model is given a head of the program's own."""
    return any(
        isinstance(n.ctx, ast.Store) and n.attr in ("lm_head", "score", "classifier")
        for n in module.nodes(ast.Attribute)
    )


_LOAD = """
from transformers import {cls}

model = {cls}.from_pretrained("{name}"){mark}
"""
_REWARD = """
from transformers import {cls}
from trl import RewardTrainer

model = {cls}.from_pretrained("our/own-model"){mark}
RewardTrainer(model=model, train_dataset=pairs).train()
"""
BAD = (
    Example(_REWARD.format(cls="AutoModelForCausalLM", mark="  # found")),
    Example(_LOAD.format(cls="AutoModelForCausalLM", name="google/flan-t5-base", mark="  # found")),
    Example(_LOAD.format(cls="AutoModelForSeq2SeqLM", name="openai-community/gpt2", mark="  # found")),
    Example(_LOAD.format(cls="AutoModelForCausalLM", name="distilbert-base-uncased", mark="  # found")),
)
GOOD = (
    Example(_REWARD.format(cls="AutoModelForSequenceClassification", mark="")),
    Example(
        _REWARD.format(cls="AutoModelForCausalLM", mark="").replace(
            "RewardTrainer(", "model.lm_head = head\nRewardTrainer("
        )
    ),
    Example(_LOAD.format(cls="AutoModelForCausalLM", name="openai-community/gpt2", mark="")),
    Example(_LOAD.format(cls="AutoModelForSeq2SeqLM", name="facebook/bart-large", mark="")),
    Example(_LOAD.format(cls="AutoModelForCausalLM", name="our/own-model", mark="")),
)
