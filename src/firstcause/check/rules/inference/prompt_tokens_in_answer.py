"""A decoder's whole output is decoded, prompt and all, and read as its answer.

Why: generate() of a decoder returns the prompt first: JSON does not parse, and comparisons never match.
Refuted by: the prompt's tokens cut off, an encoder-decoder, an output that is only shown.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.engines import generations, writes_text
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "prompt-tokens-in-answer"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    calls = {g.call.node for g in generations(code) if g.kind == "transformers" and writes_text(g)}
    for decode in code.methods("decode", "batch_decode") if calls else ():
        if decode.node.args and _whole(code, decode, calls) and _is_parsed(code, decode):
            text = "the prompt's tokens are decoded with the answer and read as JSON; cut them off: out[:, prompt_length:]"
            yield finding(SLUG, CATEGORY, decode.module, decode.node, text)


def _whole(code: Code, decode: Call, calls: set[ast.Call]) -> bool:
    """``out`` or ``out[0]`` of a generate call."""
    given = decode.node.args[0]
    if isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant):
        given = given.value
    made = maker(code, decode.module, given)
    return made is not None and made.node in calls


def _is_parsed(code: Code, decode: Call) -> bool:
    """Whether json.loads reads what is decoded."""
    return any(
        any(o.node is decode.node for o in code.origins(c.module, _plain(c.node.args[0])))
        for c in code.calls("json.loads")
        if c.node.args
    )


def _plain(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strip":
        node = node.func.value
    return node


_BODY = """
import json
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("org/model")
model = AutoModelForCausalLM.from_pretrained("org/model")

def answer(text):
    ids = tok(text, return_tensors="pt").input_ids
    out = model.generate(ids, max_new_tokens=200)
    said = tok.decode({part}, skip_special_tokens=True){mark}
    return {read}
"""
BAD = (
    Example(_BODY.format(part="out[0]", mark="  # found", read="json.loads(said)")),
    Example(_BODY.format(part="out[0]", mark="  # found", read="json.loads(said.strip())")),
)
GOOD = (
    Example(_BODY.format(part="out[0][ids.shape[1]:]", mark="", read="json.loads(said)")),
    Example(_BODY.format(part="out[0]", mark="", read="said")),
    Example(
        _BODY.format(part="out[0]", mark="", read="json.loads(said)").replace("ForCausalLM", "ForSeq2SeqLM")
    ),
)
