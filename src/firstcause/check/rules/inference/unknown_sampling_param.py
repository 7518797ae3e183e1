"""A sampling parameter of another engine is given to SGLang.

Why: SGLang takes a plain dictionary and raises for a name it does not know: max_tokens is vLLM's, max_new_tokens its own.
Refuted by: SGLang's own names, a dictionary that the code does not write out.
Holds for: sglang, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.engines import generations
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "unknown-sampling-param"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

OTHERS = {
    "max_tokens": "max_new_tokens",
    "max_length": "max_new_tokens",
    "num_return_sequences": "n",
    "do_sample": "temperature, 0 for greedy",
    "eos_token_id": "stop_token_ids",
    "seed": "sampling_seed",
    "stop_strings": "stop",
}


def find(code: Code) -> Iterator[Finding]:
    for one in generations(code):
        given = one.call.argument("sampling_params", 1) if one.kind == "sglang" else None
        if given is None or given.path:
            continue
        for origin in code.origins(given.module, given.node):
            names = _names(origin.node)
            for name in sorted(names & set(OTHERS)):
                text = f"SGLang has no sampling parameter {name}; its own is {OTHERS[name]}"
                place = (origin.module.site(origin.node),)
                yield finding(
                    SLUG, CATEGORY, one.call.module, one.call.node, text, argument=name, related=place
                )


def _names(node: ast.AST) -> set[str]:
    """The names in a dictionary that is written out; its values may be computed."""
    if isinstance(node, ast.Dict):
        return {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return {k.arg for k in node.keywords if k.arg}
    return set()


_BODY = """
import sglang

engine = sglang.Engine(model_path="org/model")
PARAMS = {params}
print(engine.generate(["a"], PARAMS)){mark}
"""
BAD = (
    Example(_BODY.format(params='{"temperature": 0, "max_tokens": 64}', mark="  # found")),
    Example(_BODY.format(params="dict(temperature=0, max_tokens=64)", mark="  # found")),
    Example(_BODY.format(params='{"regex": "|".join(["a", "b"]), "max_tokens": 8}', mark="  # found")),
    Example(_BODY.format(params='{"do_sample": False, "max_new_tokens": 64}', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(params='{"temperature": 0, "max_new_tokens": 64}', mark="")),
    Example(_BODY.format(params="dict(max_tokens=64)", mark="").replace("sglang.Engine", "make")),
    Example("""
from vllm import LLM, SamplingParams

print(LLM(model="org/model").generate(["a"], SamplingParams(max_tokens=64)))
"""),
)
