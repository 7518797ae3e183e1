"""Texts are padded with a tokenizer that has no padding token.

Why: padding raises; for the models of this family the token has to be set, to the end-of-text token or to a new one.
Refuted by: pad_token set anywhere, a token added, padding off, one text at a time.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import family
from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "missing-pad-token"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

COLLATORS = (
    "transformers.DataCollatorWithPadding", "transformers.DataCollatorForLanguageModeling",
    "transformers.DataCollatorForSeq2Seq", "transformers.DataCollatorForTokenClassification",
)  # fmt: skip


def find(code: Code) -> Iterator[Finding]:
    if _is_set(code):
        return
    for call in code.methods_and_calls("from_pretrained"):
        if "Tokenizer" not in ast.unparse(call.node.func):
            continue
        name = call.constant("pretrained_model_name_or_path", 0)
        known = family(str(name.value)) if name is not None and isinstance(name.value, str) else None
        if known is None or known.pad_token or call.may_have("pad_token"):
            continue
        assert name is not None
        for module, node in _pads(code, call):
            text = (
                f"{name.value} has no padding token and texts are padded here: set tokenizer.pad_token first"
            )
            yield finding(SLUG, CATEGORY, module, node, text, related=(call.site,))
            break


def _is_set(code: Code) -> bool:
    if code.called_names() & {"add_special_tokens", "resize_token_embeddings"}:
        return True
    written = (m for m in code.modules if "pad_token" in m.text)
    stores = (t for m in written for n in m.nodes(ast.Assign) for t in n.targets)
    return any(
        isinstance(t, ast.Attribute)
        and t.attr in ("pad_token", "pad_token_id")
        and "config" not in ast.unparse(t)
        for t in stores
    )


def _pads(code: Code, made: Call) -> Iterator[tuple[Module, ast.AST]]:
    """Where this tokenizer pads: a call of it with padding, or a collator that is given it."""
    for use in code.uses_of(made):
        padding = next((k.value for k in use.node.keywords if k.arg == "padding"), None)
        if padding is not None and not (
            isinstance(padding, ast.Constant) and padding.value in (False, "do_not_pad")
        ):
            yield use.module, use.node
    for call in code.calls(*COLLATORS):
        given = call.argument("tokenizer", 0)
        if given is not None and any(o.node is made.node for o in code.origins(call.module, given.node)):
            yield call.module, call.node


_BODY = """
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("{name}")
{more}
batch = tok(["a", "b c"], {padding}return_tensors="pt"){mark}
"""
BAD = (
    Example(_BODY.format(name="gpt2", more="", padding="padding=True, ", mark="  # found")),
    Example("""
from transformers import AutoTokenizer, DataCollatorForLanguageModeling

def collator():
    tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-3.1-8B")
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)  # found
"""),
)
GOOD = (
    Example(
        _BODY.format(name="gpt2", more="tok.pad_token = tok.eos_token", padding="padding=True, ", mark="")
    ),
    Example(_BODY.format(name="bert-base-uncased", more="", padding="padding=True, ", mark="")),
    Example(_BODY.format(name="gpt2", more="", padding="", mark="")),
)
