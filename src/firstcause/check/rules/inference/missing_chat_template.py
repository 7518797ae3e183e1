"""A model trained on conversations is prompted with plain text.

Why: it was trained on its own markers of turns; without them it continues the text instead of answering, and does not stop.
Refuted by: llm.chat, apply_chat_template, pipelines that get messages, a template applied by hand to the family's markers.
Holds for: vllm, sglang, transformers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import is_chat
from firstcause.check.code import Call, Code, finding
from firstcause.check.engines import generations, tokenized, writes_text
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "missing-chat-template"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

ENGINES = ("vllm.LLM", "sglang.Engine")
# The markers of the common families; a text that holds them follows a template by hand.
MARKERS = ("<|im_start|>", "[INST]", "<|start_header_id|>", "<start_of_turn>", "<|user|>", "### Instruction")


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & {"apply_chat_template", "chat", "create_chat_completion"}:
        return
    found = list(_plain(code))
    # What looks through all texts is asked last.
    if found and not _by_hand(code):
        yield from found


def _plain(code: Code) -> Iterator[Finding]:
    """Every generation from plain text by a model that was trained on conversations."""
    for call in code.calls(*ENGINES):
        model = call.constant("model", 0) or call.constant("model_path", 0)
        if model is None or not isinstance(model.value, str) or not is_chat(model.value):
            continue
        for use in _generations(code, call):
            text = f"{model.value} was trained on conversations and gets plain text; llm.chat applies its template"
            yield finding(SLUG, CATEGORY, use.module, use.node, text, related=(call.site,))
    for one in generations(code):
        name = one.engine.constant("pretrained_model_name_or_path", 0)
        if one.kind != "transformers" or not writes_text(one) or name is None or not is_chat(str(name.value)):
            continue
        plain = tokenized(one)
        if plain is not None:
            text = (
                f"{name.value} was trained on conversations and gets plain text; "
                "tokenizer.apply_chat_template(messages, add_generation_prompt=True) writes its markers"
            )
            yield finding(SLUG, CATEGORY, plain.module, plain.node, text, related=(one.call.site,))


def _generations(code: Code, made: Call) -> list[Call]:
    """The calls of generate on this engine."""
    return [
        c
        for c in code.methods("generate")
        if c.receiver is not None and any(o.node is made.node for o in code.origins(c.module, c.receiver))
    ]


def _by_hand(code: Code) -> bool:
    texts = (n.value for m in code.modules for n in m.nodes(ast.Constant) if isinstance(n.value, str))
    return any(marker in text for text in texts for marker in MARKERS)


_BODY = """
from vllm import LLM, SamplingParams

llm = LLM(model="{model}")
for out in llm.{call}(["Explain it."], SamplingParams(max_tokens=64)):{mark}
    print(out.outputs[0].text)
"""
_TOKENIZED = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("{name}")
model = AutoModelForCausalLM.from_pretrained("{name}")

def answers(texts):
    batch = tok({text}, return_tensors="pt", padding=True).to("cuda"){mark}
    return model.generate(**batch, max_new_tokens=50)
"""
BAD = (
    Example(_BODY.format(model="meta-llama/Llama-3.1-8B-Instruct", call="generate", mark="  # found")),
    Example("""
from vllm import LLM

def build():
    return LLM("Qwen/Qwen2.5-7B-Instruct")

engine = build()
print(engine.generate("Name three rivers."))  # found
"""),
    Example(_TOKENIZED.format(name="mistralai/Mistral-7B-Instruct-v0.3", mark="  # found", text="texts")),
    Example(
        _TOKENIZED.format(name="mistralai/Mistral-7B-Instruct-v0.3", mark="  # found", text="texts")
        .replace("tok ", "words ")
        .replace("tok(", "words(")
    ),
)
GOOD = (
    Example(_TOKENIZED.format(name="mistralai/Mistral-7B-v0.3", mark="", text="texts")),
    Example(_TOKENIZED.format(name="Qwen/Qwen2.5-7B-Instruct", mark="", text='["<|im_start|>user"]')),
    Example(_BODY.format(model="meta-llama/Llama-3.1-8B-Instruct", call="chat", mark="")),
    Example(_BODY.format(model="meta-llama/Llama-3.1-8B", call="generate", mark="")),
    Example("""
from transformers import AutoTokenizer
from vllm import LLM

tok = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-7B-Instruct")
llm = LLM(model="Qwen/Qwen2.5-7B-Instruct")
text = tok.apply_chat_template([{"role": "user", "content": "x"}], tokenize=False, add_generation_prompt=True)
print(llm.generate([text]))
"""),
)
