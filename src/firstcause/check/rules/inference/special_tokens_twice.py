"""A text that a chat template made is tokenised with special tokens once more.

Why: the template has written the opening token already; a second one is a prompt that the model never saw in training.
Refuted by: add_special_tokens=False, tokenize=True of the template, a text that the template did not make.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "special-tokens-twice"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

# Families whose tokenizers put a token before each text by themselves, and whose templates write it, too.
DOUBLES = ("llama", "mistral", "gemma", "mixtral")


def find(code: Code) -> Iterator[Finding]:
    if "apply_chat_template" not in code.called_names():
        return
    for made in code.methods_and_calls("from_pretrained"):
        name = made.constant("pretrained_model_name_or_path", 0)
        if (
            name is None
            or not isinstance(name.value, str)
            or "Tokenizer" not in made.module.segment(made.node.func)
        ):
            continue
        if not any(family in name.value.lower() for family in DOUBLES):
            continue
        for use in code.uses_of(made):
            if not use.may_have("add_special_tokens") and use.node.args and _of_template(code, use):
                text = "the template has written the first token already; add_special_tokens=False keeps it single"
                yield finding(SLUG, CATEGORY, use.module, use.node, text, argument="add_special_tokens")


def _of_template(code: Code, use: Call) -> bool:
    found = maker(code, use.module, use.node.args[0])
    if found is None or found.name != ".apply_chat_template":
        return False
    tokenize = found.constant("tokenize")
    return tokenize is not None and tokenize.value is False


_BODY = """
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("{name}")
text = tok.apply_chat_template([{{"role": "user", "content": "a"}}], tokenize=False, add_generation_prompt=True)
ids = tok({text}, return_tensors="pt"{given}){mark}
"""
_LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
BAD = (
    Example(_BODY.format(name=_LLAMA, text="text", given="", mark="  # found")),
    Example(_BODY.format(name="google/gemma-2-2b-it", text="text", given=", padding=True", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(name=_LLAMA, text="text", given=", add_special_tokens=False", mark="")),
    Example(_BODY.format(name="Qwen/Qwen2.5-7B-Instruct", text="text", given="", mark="")),
    Example(_BODY.format(name=_LLAMA, text='"plain"', given="", mark="")),
)
