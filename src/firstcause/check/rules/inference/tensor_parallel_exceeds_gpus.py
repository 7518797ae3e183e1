"""An engine is told to spread the model over more cards than there are.

Why: the engine cannot start: it waits for, or asserts, one card a rank.
Refuted by: as many cards in the brief, sizes that the code does not say.
Holds for: vllm, sglang.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "tensor-parallel-exceeds-gpus"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

ENGINES = ("vllm.LLM", "vllm.EngineArgs", "vllm.AsyncEngineArgs", "sglang.Engine", "sglang.Runtime")
SIZES = (
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "tp_size",
    "pp_size",
    "dp_size",
    "data_parallel_size",
)


def find(code: Code) -> Iterator[Finding]:
    asked = [i for i in code.asked("num_gpus") if isinstance(i.value, int) and i.relation in ("eq", "max")]
    if len({i.value for i in asked}) != 1:
        return
    for call in code.calls(*ENGINES):
        sizes = {n: s for n in SIZES for s in [_size(call, n)] if s > 1}
        wanted = 1
        for size in sizes.values():
            wanted *= size
        if wanted <= asked[0].value:
            continue
        name = max(sizes, key=lambda n: sizes[n])
        value = call.argument(name)
        node = value.node if value is not None and value.module is call.module else call.node
        known = call.constant(name)
        text = f"{' x '.join(f'{n}={s}' for n, s in sizes.items())} needs {wanted} cards and there are {asked[0].value}"
        found = finding(
            SLUG,
            CATEGORY,
            call.module,
            node,
            text,
            key="num_gpus",
            asked=str(asked[0].value),
            got=str(wanted),
            argument=name,
        )
        # Where a configuration says it, that is where it is to be changed.
        yield found if known is None or value is None else replace(found, site=known.site)


def _size(call: Call, name: str) -> int:
    known = call.constant(name)
    return known.value if known is not None and type(known.value) is int else 1


_LLM = """
from vllm import LLM

llm = LLM(model="org/model", {given}){mark}
"""
BAD = (
    Example(_LLM.format(given="tensor_parallel_size=2", mark="  # found"), asked={"num_gpus": 1}),
    Example(
        _LLM.format(given="tensor_parallel_size=4, pipeline_parallel_size=2", mark="  # found"),
        asked={"num_gpus": 4},
    ),
)
GOOD = (
    Example(_LLM.format(given="tensor_parallel_size=2", mark=""), asked={"num_gpus": 2}),
    Example(_LLM.format(given="tensor_parallel_size=8", mark="")),
    Example(_LLM.format(given="max_model_len=4096", mark=""), asked={"num_gpus": 1}),
)
