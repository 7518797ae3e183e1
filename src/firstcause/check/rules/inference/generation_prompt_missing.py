"""A conversation is made into a prompt that does not open the assistant's turn.

Why: without the opening marker the model goes on with the user's turn, or writes the marker itself.
Refuted by: add_generation_prompt=True, continue_final_message, a template that is used for training.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.engines import generations
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "generation-prompt-missing"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if not generations(code) or code.trains():
        return
    for call in code.methods("apply_chat_template"):
        if (
            call.may_have("add_generation_prompt")
            or call.may_have("continue_final_message")
            or len(call.node.args) > 3
        ):
            continue
        if _is_prompt(code, call):
            text = "the prompt does not open the assistant's turn: add_generation_prompt=True is missing"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="add_generation_prompt")


def _is_prompt(code: Code, call: Call) -> bool:
    """Whether the conversation surely ends with the user, and its text reaches a call that generates."""
    known = code.constant(call.module, call.node.args[0]) if call.node.args else None
    node = call.node.args[0] if call.node.args else None
    if isinstance(node, ast.Name):
        origins = code.origins(call.module, node)
        node = origins[0].node if len(origins) == 1 and isinstance(origins[0].node, ast.expr) else None
    if (
        known is not None
        and isinstance(known.value, list)
        and known.value
        and isinstance(known.value[-1], dict)
    ):
        return known.value[-1].get("role") == "user"
    last = node.elts[-1] if isinstance(node, ast.List) and node.elts else None
    if not isinstance(last, ast.Dict):
        return False
    roles = [
        v
        for k, v in zip(last.keys, last.values, strict=True)
        if isinstance(k, ast.Constant) and k.value == "role"
    ]
    return any(isinstance(r, ast.Constant) and r.value == "user" for r in roles)


_BODY = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("org/m-Instruct")
model = AutoModelForCausalLM.from_pretrained("org/m-Instruct")
messages = [{{"role": "{role}", "content": input()}}]
ids = tok.apply_chat_template(messages, return_tensors="pt"{given}){mark}
print(model.generate(ids, max_new_tokens=50))
"""
BAD = (
    Example(_BODY.format(role="user", given="", mark="  # found")),
    Example(_BODY.format(role="user", given=", tokenize=True", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(role="user", given=", add_generation_prompt=True", mark="")),
    Example(_BODY.format(role="assistant", given="", mark="")),
    Example("""
def encode(tok, row):
    return tok.apply_chat_template([{"role": "user", "content": row["text"]}], tokenize=False)
"""),
)
