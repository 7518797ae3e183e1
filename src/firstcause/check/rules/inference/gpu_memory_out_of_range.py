"""An engine is given an impossible share of a card's memory.

Why: the share lies between 0 and 1; an engine that is given a percentage cannot start.
Refuted by: shares that fit.
Holds for: vllm, sglang.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "gpu-memory-out-of-range"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

SHARES = {
    "vllm.LLM": "gpu_memory_utilization",
    "vllm.EngineArgs": "gpu_memory_utilization",
    "vllm.AsyncEngineArgs": "gpu_memory_utilization",
    "sglang.Engine": "mem_fraction_static",
}


def find(code: Code) -> Iterator[Finding]:
    for engine, argument in SHARES.items():
        for call in code.calls(engine):
            share = call.constant(argument)
            if share is None or not isinstance(share.value, (int, float)) or 0 < share.value <= 1:
                continue
            text = f"{argument}={share.value} is a share of the card's memory and lies between 0 and 1"
            yield finding(SLUG, CATEGORY, call.module, _node(call, argument), text, argument=argument)


def _node(call: Call, argument: str) -> ast.AST:
    value = call.argument(argument)
    return value.node if value is not None and value.module is call.module else call.node


_LLM = """
from vllm import LLM

SHARE = {share}
llm = LLM(model="org/model", gpu_memory_utilization=SHARE){mark}
"""
BAD = (
    Example(_LLM.format(share="90", mark="  # found")),
    Example("""
import sglang

engine = sglang.Engine(
    model_path="org/model",
    mem_fraction_static=80,  # found
)
"""),
)
GOOD = (
    Example(_LLM.format(share="0.9", mark="")),
    Example(_LLM.format(share="1.0", mark="")),
    Example(
        'from vllm import LLM\n\n\ndef make(share):\n    return LLM("org/model", gpu_memory_utilization=share)\n'
    ),
)
