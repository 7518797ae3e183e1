"""Tokens are generated one by one and the whole text is computed again for each.

Why: without past_key_values the n-th token costs n tokens of work: 200 tokens cost about 100 times as much as with a cache.
Refuted by: past_key_values handed on, generate(), a loop whose input does not grow.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.generation import token_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "no-kv-cache"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in token_loops(code):
        if any(
            isinstance(n, (ast.keyword, ast.Name, ast.Attribute)) and "past" in _name(n)
            for n in loop.loop.nodes
        ):
            continue
        text = "each token is computed from the whole text again: no past_key_values is handed on; generate() keeps a cache"
        yield finding(SLUG, CATEGORY, loop.loop.module, loop.forward, text)


def _name(node: ast.AST) -> str:
    return str(getattr(node, "arg", None) or getattr(node, "id", None) or getattr(node, "attr", ""))


_LOOP = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")

@torch.no_grad()
def write(ids, n):
    past = None
    for _ in range(n):
        {forward}{mark}
        token = out.logits[:, -1].argmax(-1, keepdim=True)
        {more}
    return ids
"""
BAD = (
    Example(
        _LOOP.format(
            forward="out = model(ids)", mark="  # found", more="ids = torch.cat([ids, token], dim=1)"
        )
    ),
    Example("""
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")

def write(ids):
    with torch.inference_mode():
        while ids.shape[1] < 100:
            logits = model(input_ids=ids).logits[:, -1]  # found
            ids = torch.cat((ids, torch.multinomial(logits.softmax(-1), 1)), 1)
    return ids
"""),
)
GOOD = (
    Example(
        _LOOP.format(
            forward="out = model(ids, past_key_values=past)",
            mark="",
            more="past, ids = out.past_key_values, token",
        )
    ),
    Example("""
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
for prompt in [[1, 2], [3]]:
    model.generate(prompt)
"""),
    Example("""
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
for ids in [torch.zeros(1, 4).long()]:
    print(model(ids).logits[:, -1].argmax())
"""),
)
