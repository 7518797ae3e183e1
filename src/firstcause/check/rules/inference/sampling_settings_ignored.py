"""Settings of sampling are given and sampling is off.

Why: with do_sample=False the most likely token is taken; temperature, top_p and top_k do nothing.
Refuted by: do_sample=True, a temperature of 1 or 0 that only states the greedy choice.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import is_chat
from firstcause.check.code import Call, Code, finding
from firstcause.check.engines import generations, surely_without
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "sampling-settings-ignored"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

# Checkpoints that come without settings of generation.
GREEDY = (
    "gpt2",
    "gpt2-medium",
    "gpt2-large",
    "gpt2-xl",
    "distilgpt2",
    "flan-t5-base",
    "flan-t5-large",
    "t5-small",
    "t5-base",
)
# The values at which a setting changes nothing even when sampling.
NEUTRAL = {
    "temperature": (0, 0.0, 1, 1.0, None),
    "top_p": (1, 1.0, None),
    "top_k": (0, 50, None),
    "typical_p": (1, 1.0, None),
}


def find(code: Code) -> Iterator[Finding]:
    for one in generations(code):
        if one.kind in ("transformers", "pipeline") and _is_off(one.call, one.engine):
            yield from _told(one.call)
    for call in code.calls("transformers.GenerationConfig"):
        given = call.constant("do_sample")
        if given is not None and given.value is False:
            yield from _told(call)


def _is_off(call: Call, engine: Call) -> bool:
    given = call.constant("do_sample")
    if given is not None:
        return given.value is False
    if not surely_without(call, "do_sample", "generation_config", "penalty_alpha"):
        return False
    # Base checkpoints are greedy by default; those made for conversations bring settings of their own.
    name = engine.constant("pretrained_model_name_or_path", 0)
    known = name is not None and isinstance(name.value, str) and name.value.rpartition("/")[2] in GREEDY
    return (
        known
        and not engine.code.called_names() & {"GenerationConfig"}
        and not is_chat(str(name and name.value))
    )


def _told(call: Call) -> Iterator[Finding]:
    for name, neutral in NEUTRAL.items():
        value = call.constant(name)
        if value is not None and value.value not in neutral:
            given = call.argument(name)
            node = given.node if given is not None and given.module is call.module else call.node
            text = f"{name}={value.value} has no effect: do_sample is off; do_sample=True samples"
            yield finding(SLUG, CATEGORY, call.module, node, text, argument=name)
            return


_BODY = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("{name}")
model = AutoModelForCausalLM.from_pretrained("{name}")
print(model.generate(**tok("a", return_tensors="pt"), max_new_tokens=9, {given})){mark}
"""
BAD = (
    Example(_BODY.format(name="org/any", given="do_sample=False, temperature=0.7", mark="  # found")),
    Example(_BODY.format(name="gpt2", given="top_p=0.9", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(name="gpt2", given="do_sample=True, temperature=0.7", mark="")),
    Example(_BODY.format(name="org/some-Instruct", given="temperature=0.7", mark="")),
    Example(_BODY.format(name="gpt2", given="do_sample=False, temperature=1.0", mark="")),
)
