"""Tokens are added to a tokenizer and the model's embedding keeps its size.

Why: the new ids lie beyond the embedding: an index error, or a device-side assert on a GPU.
Refuted by: resize_token_embeddings anywhere, no model in the program, tokens that stand for known ones (pad = eos).
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "embeddings-not-resized"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Texts that the tokenizers of the common models have already.
KNOWN = {
    "<|endoftext|>",
    "</s>",
    "<s>",
    "<unk>",
    "[MASK]",
    "[CLS]",
    "[SEP]",
    "[UNK]",
    "<|eot_id|>",
    "<|im_end|>",
}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & {"resize_token_embeddings", "setup_chat_format", "clone_chat_template"}:
        return
    if not model_calls(code):
        return
    for call in code.methods("add_tokens", "add_special_tokens"):
        if call.receiver is None or not call.node.args or not _adds(call):
            continue
        made = maker(code, call.module, call.receiver)
        if made is None or "Tokenizer" not in ast.unparse(made.node.func):
            continue
        text = f"{call.name[1:]} gives ids that the model's embedding does not have: resize_token_embeddings(len(tokenizer))"
        yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(made.site,))


def _adds(call: Call) -> bool:
    """Whether a text of the code's own is added, and not one that the tokenizer has."""
    given = call.node.args[0]
    known = call.code.constant(call.module, given)
    if known is None:
        return False
    values = known.value.values() if isinstance(known.value, dict) else known.value
    flat = [values] if isinstance(values, str) else list(values) if hasattr(values, "__iter__") else []
    texts = [t for v in flat for t in (v if isinstance(v, list) else [v])]
    return bool(texts) and all(isinstance(t, str) for t in texts) and not set(texts) <= KNOWN


_BODY = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
{add}{mark}
{more}
model(**tok("a", return_tensors="pt"))
"""
BAD = (
    Example(_BODY.format(add='tok.add_special_tokens({"pad_token": "[PAD]"})', mark="  # found", more="")),
    Example(_BODY.format(add='tok.add_tokens(["<user>", "<bot>"])', mark="  # found", more="")),
)
GOOD = (
    Example(
        _BODY.format(
            add='tok.add_tokens(["<user>"])', mark="", more="model.resize_token_embeddings(len(tok))"
        )
    ),
    Example(_BODY.format(add='tok.add_special_tokens({"pad_token": tok.eos_token})', mark="", more="")),
    Example("""
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2")
tok.add_tokens(["<user>"])
print(tok("<user>"))
"""),
)
