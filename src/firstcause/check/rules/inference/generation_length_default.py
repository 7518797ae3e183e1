"""Text is generated without saying how long it may be.

Why: generate() stops after 20 tokens, prompt included, unless the checkpoint says otherwise; vLLM's SamplingParams after 16.
Refuted by: max_new_tokens, max_length, max_tokens, a generation_config, stopping criteria, ``**`` of settings.
Holds for: transformers, vllm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.engines import generations, surely_without
from firstcause.check.loaded import loaded_class
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "generation-length-default"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

LENGTHS = (
    "max_new_tokens",
    "max_length",
    "generation_config",
    "stopping_criteria",
    "max_time",
    "assistant_model",
)


def find(code: Code) -> Iterator[Finding]:
    if not _set_elsewhere(code):
        for one in generations(code):
            if (
                one.kind == "transformers"
                and "ForCausalLM" in loaded_class(one.engine)
                and surely_without(one.call, *LENGTHS)
            ):
                text = (
                    "generate() without max_new_tokens stops after about 20 tokens, the prompt's own included"
                )
                yield finding(SLUG, CATEGORY, one.call.module, one.call.node, text, argument="max_new_tokens")
    for call in code.calls("vllm.SamplingParams"):
        if not call.may_have("max_tokens") and len(call.node.args) < 12 and not _sets(code, "max_tokens"):
            # Generating probabilities, or scoring, needs no text.
            if call.may_have("prompt_logprobs") or call.may_have("guided_decoding"):
                continue
            text = "SamplingParams without max_tokens stops each answer after 16 tokens"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="max_tokens")


def _set_elsewhere(code: Code) -> bool:
    return _sets(code, "max_new_tokens") or _sets(code, "max_length") or code.imports("vllm")


def _sets(code: Code, name: str) -> bool:
    """Whether an attribute of that name is set anywhere: config.max_length = 64."""
    return any(
        isinstance(t, ast.Attribute) and t.attr == name
        for m in code.modules
        if name in m.text
        for n in m.nodes(ast.Assign)
        for t in n.targets
    )


_BODY = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
print(tok.batch_decode(model.generate(**tok("a", return_tensors="pt"){given}))){mark}
"""
BAD = (
    Example(_BODY.format(given="", mark="  # found")),
    Example("""
from vllm import LLM, SamplingParams

params = SamplingParams(temperature=0.0)  # found
print(LLM(model="org/model").generate(["Explain."], params))
"""),
)
GOOD = (
    Example(_BODY.format(given=", max_new_tokens=64", mark="")),
    Example("""
from vllm import LLM, SamplingParams

print(LLM(model="org/model").generate(["Explain."], SamplingParams(0.7, max_tokens=256)))
"""),
    Example("""
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
SETTINGS = {"max_new_tokens": 5}

def answer(ids):
    return model.generate(ids, **SETTINGS)
"""),
)
