"""Sampling by temperature, top-k or top-p is written out where an engine or generate() has it.

Why: the hand-written one has no cache, no batch and no stopping of its own, and each of its steps can be wrong.
Refuted by: a model of one's own that no engine runs, a research program about sampling.
Holds for: transformers, vllm, sglang.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.loaded import loaded_class
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "hand-written-sampling"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

DRAWS = frozenset({"multinomial", "Categorical"})
CUTS = frozenset({"cumsum", "topk", "sort", "kthvalue", "masked_fill", "masked_fill_"})


def find(code: Code) -> Iterator[Finding]:
    if not code.called_names() & DRAWS:
        return
    engines = code.calls("vllm.LLM", "sglang.Engine")
    generators = [
        c
        for c in model_calls(code)
        if loaded_class(c).endswith(("ForCausalLM", "LMHeadModel", "ForSeq2SeqLM"))
    ]
    if not engines and not generators:
        return
    known = engines[0].name if engines else "generate(do_sample=True, …)"
    asked = code.asked("framework")
    if any(i.value == "vllm" and i.polarity == "require" for i in asked):
        known = "vLLM's SamplingParams"
    for module in code.modules:
        for function in module.nodes(ast.FunctionDef):
            draws = _draws(code, module, function)
            if draws and _is_sampling(function):
                text = f"{function.name} samples by hand ({', '.join(draws)}); {known} has temperature, top_k and top_p"
                yield finding(SLUG, CATEGORY, module, function, text)


def _draws(code: Code, module: Module, function: ast.FunctionDef) -> list[str]:
    names = [call_of(code, module, n).name for n in module.inside(function, ast.Call)]
    return sorted({n for n in names if n.startswith("torch.") and n.rpartition(".")[2] in DRAWS})


def _is_sampling(function: ast.FunctionDef) -> bool:
    """A distribution over tokens that is sharpened or cut: a softmax with a division, or with a cut of the tail."""
    called = {
        n.func.attr
        for n in ast.walk(function)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    }
    divided = any(
        isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and "logit" in ast.unparse(n.left).lower()
        for n in ast.walk(function)
    )
    return (
        "softmax" in called
        and bool(divided or called & CUTS)
        and "backward" not in called
        and "log_prob" not in called
    )


_BODY = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")

def draw(logits, temperature):{mark}
    {body}
"""
BAD = (
    Example(
        _BODY.format(
            mark="  # found",
            body="probs = torch.softmax(logits / temperature, -1)\n    return torch.multinomial(probs, 1)",
        )
    ),
    Example(
        _BODY.format(
            mark="  # found",
            body="values, ids = torch.topk(logits, 40)\n    return ids.gather(-1, torch.multinomial(values.softmax(-1), 1))",
        )
    ),
)
GOOD = (
    Example(_BODY.format(mark="", body="return torch.softmax(logits / temperature, -1)")),
    Example(_BODY.format(mark="", body="return torch.multinomial(torch.ones(4), 1)")),
    Example("""
import torch
from torch import nn

class Policy(nn.Module):
    def act(self, logits, temperature):
        return torch.multinomial(torch.softmax(logits / temperature, -1), 1)
"""),
)
