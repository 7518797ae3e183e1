"""A decoder's whole output is decoded, prompt and all, and read as its answer.

Why: generate() of a decoder returns the prompt first: JSON does not parse, and comparisons never match.
Refuted by: the prompt's tokens cut off, an encoder-decoder, an output that is only shown.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import is_chat
from firstcause.check.code import Call, Code, finding
from firstcause.check.engines import generations, writes_text
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "prompt-tokens-in-answer"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

CUTS = frozenset({"split", "rsplit", "partition", "rpartition", "removeprefix", "replace", "sub"})


def find(code: Code) -> Iterator[Finding]:
    made = [g for g in generations(code) if g.kind == "transformers" and writes_text(g)]
    calls = {g.call.node for g in made}
    names = [g.engine.constant("pretrained_model_name_or_path", 0) for g in made]
    # Whoever continues a text wants it whole; what was trained on conversations answers.
    chat = bool(names) and all(n is not None and is_chat(str(n.value)) for n in names)
    for decode in code.methods("decode", "batch_decode") if calls else ():
        if not decode.node.args or not _whole(code, decode, calls):
            continue
        if _is_parsed(code, decode):
            text = "the prompt's tokens are decoded with the answer and read as JSON; cut them off: out[:, prompt_length:]"
            yield finding(SLUG, CATEGORY, decode.module, decode.node, text)
        elif chat and _is_kept(decode) and not _cuts_text(code):
            text = "the prompt's tokens are decoded with the answer and kept as one; cut them off: out[:, prompt_length:]"
            yield finding(SLUG, CATEGORY, decode.module, decode.node, text)


def _whole(code: Code, decode: Call, calls: set[ast.Call]) -> bool:
    """``out`` or ``out[0]`` of a generate call."""
    given = decode.node.args[0]
    if isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant):
        given = given.value
    made = maker(code, decode.module, given)
    return made is not None and made.node in calls


def _is_parsed(code: Code, decode: Call) -> bool:
    """Whether json.loads reads what is decoded."""
    return any(
        any(o.node is decode.node for o in code.origins(c.module, _plain(c.node.args[0])))
        for c in code.calls("json.loads")
        if c.node.args
    )


def _is_kept(decode: Call) -> bool:
    """Whether what is decoded is gathered or given back, and not only shown."""
    statement = decode.module.statement(decode.node)
    if isinstance(statement, (ast.Return, ast.AugAssign)):
        return statement.value is decode.node
    called = decode.module.parents.get(decode.node)
    return (
        isinstance(called, ast.Call)
        and isinstance(called.func, ast.Attribute)
        and called.func.attr in ("append", "extend")
    )


def _cuts_text(code: Code) -> bool:
    """Whether texts are cut somewhere in the program, as a prompt is from its answer."""
    if code.called_names() & CUTS:
        return True
    slices = (n.slice for m in code.modules for n in m.nodes(ast.Subscript) if isinstance(n.slice, ast.Slice))
    return any(s.lower is not None and s.upper is None for s in slices)


def _plain(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strip":
        node = node.func.value
    return node


_BODY = """
import json
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("org/model")
model = AutoModelForCausalLM.from_pretrained("org/model")

def answer(text):
    ids = tok(text, return_tensors="pt").input_ids
    out = model.generate(ids, max_new_tokens=200)
    said = tok.decode({part}, skip_special_tokens=True){mark}
    return {read}
"""
_KEPT = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("{name}")
model = AutoModelForCausalLM.from_pretrained("{name}")
answers = []
for messages in ([{{"role": "user", "content": "a"}}],):
    ids = tok.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    out = model.generate(ids, max_new_tokens=200)
    answers.append(tok.decode({part}, skip_special_tokens=True)){mark}
"""
BAD = (
    Example(_BODY.format(part="out[0]", mark="  # found", read="json.loads(said)")),
    Example(_BODY.format(part="out[0]", mark="  # found", read="json.loads(said.strip())")),
    Example(_KEPT.format(name="Qwen/Qwen2.5-7B-Instruct", part="out[0]", mark="  # found")),
)
GOOD = (
    Example(_KEPT.format(name="Qwen/Qwen2.5-7B-Instruct", part="out[0][ids.shape[1]:]", mark="")),
    Example(_KEPT.format(name="Qwen/Qwen2.5-7B", part="out[0]", mark="")),
    Example(_BODY.format(part="out[0][ids.shape[1]:]", mark="", read="json.loads(said)")),
    Example(_BODY.format(part="out[0]", mark="", read="said")),
    Example(
        _BODY.format(part="out[0]", mark="", read="json.loads(said)").replace("ForCausalLM", "ForSeq2SeqLM")
    ),
)
