"""A decoder generates from a batch that is padded on the right.

Why: the new tokens are written after the padding; the shorter prompts of the batch continue from padding and come out as noise.
Refuted by: padding_side="left", one prompt a call, an encoder-decoder, a family whose tokenizer pads on the left by itself.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import architecture, pads_right
from firstcause.check.code import Call, Code, finding
from firstcause.check.loaded import loaded_class
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "wrong-padding-side"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if not code.methods("generate"):
        return
    sides = set(_sides(code))
    if "left" in sides or None in sides or code.trains():
        return
    for call in code.methods_and_calls("from_pretrained"):
        name = call.constant("pretrained_model_name_or_path", 0)
        if "Tokenizer" not in loaded_class(call) or name is None or not isinstance(name.value, str):
            continue
        if not pads_right(name.value) and not ("right" in sides and architecture(name.value)):
            continue
        if not any("ForCausalLM" in loaded_class(c) for c in code.methods_and_calls("from_pretrained")):
            continue
        for use in code.uses_of(call):
            if _pads(use):
                text = f'{name.value} pads on the right and then generates; padding_side="left" puts the prompt\'s end last'
                yield finding(
                    SLUG, CATEGORY, call.module, call.node, text, argument="padding_side", related=(use.site,)
                )
                break


def _sides(code: Code) -> Iterator[str | None]:
    """Every side that the code sets; None for one that it does not say."""
    for module in code.modules:
        for keyword in module.nodes(ast.keyword):
            if keyword.arg == "padding_side":
                yield _text(code.constant(module, keyword.value))
        for assign in module.nodes(ast.Assign):
            if any(isinstance(t, ast.Attribute) and t.attr == "padding_side" for t in assign.targets):
                yield _text(code.constant(module, assign.value))


def _text(known: object) -> str | None:
    value = getattr(known, "value", None)
    return value if isinstance(value, str) else None


def _pads(use: Call) -> bool:
    """A call of the tokenizer with several texts and padding."""
    padding = use.constant("padding")
    first = use.node.args[0] if use.node.args else None
    return (
        padding is not None
        and padding.value in (True, "longest", "max_length")
        and not isinstance(first, ast.Constant)
    )


_BODY = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("{name}"{side}){mark}
tok.pad_token = tok.eos_token
model = AutoModelForCausalLM.from_pretrained("{name}")
batch = tok(["Hello", "Once upon a time"], {padding}return_tensors="pt")
print(tok.batch_decode(model.generate(**batch, max_new_tokens=20)))
"""
BAD = (
    Example(_BODY.format(name="gpt2", side="", mark="  # found", padding="padding=True, ")),
    Example(
        _BODY.format(
            name="mistralai/Mistral-7B-v0.1",
            side=', padding_side="right"',
            mark="  # found",
            padding="padding=True, ",
        )
    ),
)
GOOD = (
    Example(_BODY.format(name="gpt2", side=', padding_side="left"', mark="", padding="padding=True, ")),
    Example(_BODY.format(name="gpt2", side="", mark="", padding="")),
    Example(_BODY.format(name="google/gemma-2-2b", side="", mark="", padding="padding=True, ")),
)
