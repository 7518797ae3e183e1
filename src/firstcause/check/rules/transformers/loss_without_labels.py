"""The loss of a model's output is taken though the call gives no labels.

Why: the models of transformers compute a loss only from labels; without them it is None and backward raises.
Refuted by: labels among the arguments, ``**`` of a batch, a model of one's own.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import call_of, first_maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "loss-without-labels"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

LABELS = ("labels", "start_positions", "next_sentence_label", "mc_labels", "return_loss", "class_labels")


def find(code: Code) -> Iterator[Finding]:
    if not code.imports("transformers"):
        return
    told: set[ast.Call] = set()
    for module in code.modules:
        for node in module.nodes(ast.Attribute):
            if node.attr != "loss" or not isinstance(node.ctx, ast.Load):
                continue
            call = _forward(code, module, node)
            if call is not None and call not in told:
                told.add(call)
                text = "this output has no loss: the model is called without labels, and loss is None"
                yield finding(
                    SLUG, CATEGORY, module, node, text, argument="labels", related=(module.site(call),)
                )


def _forward(code: Code, module: Module, node: ast.Attribute) -> ast.Call | None:
    """The one call of a loaded model whose output it is, where that call surely gives no labels."""
    origins = code.origins(module, node.value)
    if len(origins) != 1 or not isinstance(origins[0].node, ast.Call):
        return None
    call = call_of(code, origins[0].module, origins[0].node)
    if any(call.may_have(name) for name in LABELS) or len(call.node.args) > 1:
        return None
    if any(isinstance(a, ast.Starred) for a in call.node.args):
        return None
    loaded = first_maker(code, call.module, call.node.func)
    known = (
        loaded is not None
        and loaded.name.startswith("transformers.")
        and loaded.name.endswith("from_pretrained")
    )
    return call.node if known and _has_labels_argument(loaded.name if loaded else "") else None


def _has_labels_argument(name: str) -> bool:
    """Classes with a head of which the loss comes from labels."""
    return any(
        part in name
        for part in ("ForCausalLM", "ForSequence", "ForToken", "ForMaskedLM", "ForSeq2Seq", "ForConditional")
    )


_LOOP = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
opt = torch.optim.AdamW(model.parameters())

def fit(loader):
    for batch in loader:
        out = model({given})
        loss = out.loss{mark}
        loss.backward()
        opt.step()
        opt.zero_grad()
"""
BAD = (
    Example(_LOOP.format(given='batch["input_ids"]', mark="  # found")),
    Example(
        _LOOP.format(
            given='input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]', mark="  # found"
        )
    ),
)
GOOD = (
    Example(_LOOP.format(given='batch["input_ids"], labels=batch["input_ids"]', mark="")),
    Example(_LOOP.format(given="**batch", mark="")),
    Example("""
class Net:
    def __call__(self, x):
        return self

def fit(net, x):
    return net(x).loss
"""),
)
