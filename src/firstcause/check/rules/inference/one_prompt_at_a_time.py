"""Prompts are generated one by one where many could go together.

Why: a batch of 1 leaves most of the device idle: engines batch a whole list by themselves, ten times as fast and more.
Refuted by: a loop over batches, a conversation in which each turn needs the last one, few prompts written out in the code.
Holds for: vllm, sglang, transformers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.engines import Generation, generations, loop_over, writes_text
from firstcause.check.generation import token_loops
from firstcause.check.rule import Example
from firstcause.check.sequences import over_items
from firstcause.schema.finding import Category, Finding

SLUG = "one-prompt-at-a-time"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for one in generations(code):
        loop = loop_over(code, one.call)
        if loop is not None and writes_text(one) and _one_each(code, one, loop):
            text = f"the loop at line {loop.node.lineno} generates one prompt a call; {_instead(one)}"
            yield finding(SLUG, CATEGORY, loop.module, loop.node, text, related=(one.call.site,))
    for token in token_loops(code):
        function = token.loop.module.function(token.loop.node)
        for call in code.own_calls(getattr(function, "name", "")) if function is not None else ():
            around = call.loop
            if around is not None and isinstance(around.node, ast.For) and over_items(code, around):
                text = "prompts are decoded one by one by a loop of its own; generate() of an engine takes them all"
                yield finding(SLUG, CATEGORY, around.module, around.node, text, related=(call.site,))


def _instead(one: Generation) -> str:
    if one.kind in ("vllm", "sglang"):
        return f"{one.engine.name} takes the whole list and batches it itself"
    return "a list with batch_size (pipeline), or a padded batch (generate), uses the device"


def _one_each(code: Code, one: Generation, loop: Loop) -> bool:
    """A loop over items, of which each round gives one to the engine and none feeds the next round."""
    return over_items(code, loop) and not _feeds_back(one, loop)


def _feeds_back(one: Generation, loop: Loop) -> bool:
    """Whether what this round makes is given to the next: a conversation's history."""
    if one.call.loop is None:
        return False
    given = {
        n.id
        for a in [*one.call.node.args, *(k.value for k in one.call.node.keywords)]
        for n in ast.walk(a)
        if isinstance(n, ast.Name)
    }
    grown = {"history", "messages", "conversation"}
    for node in loop.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "extend")
        ):
            if isinstance(node.func.value, ast.Name):
                grown.add(node.func.value.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            grown.add(node.target.id)
    inside = {
        n.id
        for x in loop.nodes
        if isinstance(x, ast.Assign)
        for t in x.targets
        for n in ast.walk(t)
        if isinstance(n, ast.Name)
    }
    return bool(given & grown - (inside & {"messages"}))


_BODY = """
from vllm import LLM, SamplingParams

llm = LLM(model="org/model")
{loop}
"""
BAD = (
    Example(
        _BODY.format(
            loop='for line in open("prompts.txt"):  # found\n    print(llm.generate([line], SamplingParams(max_tokens=9)))'
        )
    ),
    Example("""
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def answer(text):
    ids = tok(text, return_tensors="pt")
    return tok.decode(model.generate(**ids, max_new_tokens=20)[0])

def main(questions):
    return [q for q in questions], run(questions)

def run(questions):
    found = []
    for question in questions:  # found
        found.append(answer(question))
    return found
"""),
)
GOOD = (
    Example(
        _BODY.format(
            loop='lines = open("prompts.txt").readlines()\nfor out in llm.generate(lines):\n    print(out)'
        )
    ),
    Example(_BODY.format(loop='for text in ["a", "b"]:\n    print(llm.generate([text]))')),
    Example("""
from vllm import LLM

def main(data, n):
    llm = LLM(model="org/model")
    for start in range(0, len(data), n):
        llm.generate(data[start : start + n])
"""),
    Example("""
from vllm import LLM

def chat(lines):
    llm, history = LLM(model="org/model"), []
    for line in lines:
        history.append({"role": "user", "content": line})
        history.append({"role": "assistant", "content": llm.chat(history)[0].outputs[0].text})
"""),
)
