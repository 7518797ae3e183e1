"""JSON is read from an answer that is cut after few tokens.

Why: a cut answer has no closing bracket: json.loads raises on the longer ones, most often the interesting ones.
Refuted by: room for the answer, a test of finish_reason, a try around the reading.
Holds for: vllm, transformers, sglang.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.answers import is_answer
from firstcause.check.code import Code, finding
from firstcause.check.engines import generations
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "truncated-json"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

# A small object with three short fields takes about this many tokens.
SMALL = 64


def find(code: Code) -> Iterator[Finding]:
    reads = [c for c in code.calls("json.loads") if c.node.args and is_answer(code, c.module, c.node.args[0])]
    if not reads or _looks_at_the_end(code):
        return
    for call in [*code.calls("vllm.SamplingParams"), *(g.call for g in generations(code))]:
        for name in ("max_tokens", "max_new_tokens"):
            length = call.constant(name)
            if length is not None and type(length.value) is int and length.value <= SMALL:
                value = call.argument(name)
                node = value.node if value is not None and value.module is call.module else call.node
                text = (
                    f"answers are cut at {length.value} tokens and then read as JSON, which a cut one is not"
                )
                yield finding(
                    SLUG, CATEGORY, call.module, node, text, argument=name, related=(reads[0].site,)
                )


def _looks_at_the_end(code: Code) -> bool:
    return any(
        n.attr in ("finish_reason", "stop_reason") for m in code.modules for n in m.nodes(ast.Attribute)
    )


_BODY = """
import json
from vllm import LLM, SamplingParams

llm = LLM(model="org/model")
params = SamplingParams(temperature=0, max_tokens={length}){mark}
for out in llm.generate(["Give JSON."], params):
    print({read})
"""
BAD = (
    Example(_BODY.format(length=16, mark="  # found", read="json.loads(out.outputs[0].text)")),
    Example(
        _BODY.format(length=50, mark="  # found", read='json.loads(out.outputs[0].text.strip())["label"]')
    ),
)
GOOD = (
    Example(_BODY.format(length=512, mark="", read="json.loads(out.outputs[0].text)")),
    Example(_BODY.format(length=16, mark="", read="out.outputs[0].text")),
    Example(
        _BODY.format(
            length=16,
            mark="",
            read='json.loads(out.outputs[0].text) if out.outputs[0].finish_reason == "stop" else None',
        )
    ),
)
