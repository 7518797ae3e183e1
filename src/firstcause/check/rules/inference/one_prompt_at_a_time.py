"""Prompts are generated one by one where many could go together.

Why: a batch of 1 leaves most of the device idle: engines batch a whole list by themselves, ten times as fast and more.
Refuted by: a loop over batches, a list of many prompts in each call, a conversation in which each turn needs the last one, few
prompts written out in the code.
Holds for: vllm, sglang, transformers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.engines import Generation, generations, loop_over, looped_call, writes_text
from firstcause.check.generation import token_loops
from firstcause.check.prompts import takes_many
from firstcause.check.rule import Example
from firstcause.check.sequences import over_items, repeated_by, takes_items
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

SLUG = "one-prompt-at-a-time"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

# What calls a function on each of many.
MAPS = ("map", "apply", "progress_apply")


def find(code: Code) -> Iterator[Finding]:
    for one in generations(code):
        if takes_many(code, one):
            continue
        looped = looped_call(code, one.call)
        loop = loop_over(code, one.call)
        if (
            looped is not None
            and loop is not None
            and writes_text(one)
            and over_items(code, loop)
            and not _feeds_back(one, loop)
        ):
            text = f"the loop at line {loop.node.lineno} generates one prompt a call; {_instead(one)}"
            related = (loop.module.site(loop.node), one.call.site)
            yield finding(SLUG, CATEGORY, looped.module, looped.node, text, related=related)
        elif loop is None and writes_text(one):
            yield from _repeated(code, one)
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


def _repeated(code: Code, one: Generation) -> Iterator[Finding]:
    """The same as ``[llm.generate(p) for p in prompts]`` or ``prompts.map(answer)``, or by a function of the project."""
    function = one.call.module.function(one.call.node)
    for call in (one.call, *code.own_calls(getattr(function, "name", ""))):
        if call is not one.call and function not in {d.node for d in code.callees_of(call)}:
            continue
        each = repeated_by(call.module, call.node)
        if each is not None and takes_items(code, call.module, each.iter, each.target):
            text = (
                f"the comprehension at line {each.iter.lineno} generates one prompt a call; {_instead(one)}"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(one.call.site,))
            return
    for call in code.methods_and_calls(*MAPS):
        if any(_is_given(code, call, g, one) for g in call.node.args[:1]) and not call.may_have("batched"):
            text = f"{last_name(call.node.func)} at line {call.node.lineno} generates one prompt a call; {_instead(one)}"
            yield finding(SLUG, CATEGORY, one.call.module, one.call.node, text, related=(call.site,))
            return


def _is_given(code: Code, call: Call, node: ast.expr, one: Generation) -> bool:
    """Whether an argument is the function in which a text is generated, item by item."""
    if isinstance(node, ast.Lambda):
        names = {a.arg for a in node.args.args}
        found = one.call.module is call.module and any(n is one.call.node for n in ast.walk(node.body))
    else:
        function = one.call.module.function(one.call.node)
        given = resolve(code.project, call.module, node)
        found = function is not None and isinstance(given, Defined) and given.node is function
        names = {a.arg for a in function.args.args} if function is not None else set()
    return found and not any("batch" in n or "chunk" in n or n.endswith("s") for n in names)


def _is_called(module: Module, node: ast.Name) -> bool:
    around = module.parents.get(node)
    return isinstance(around, ast.Call) and around.func is node


def _feeds_back(one: Generation, loop: Loop) -> bool:
    """Whether what this round makes is given to the next: a conversation's history."""
    if one.call.loop is None:
        return False
    given = {
        n.id
        for a in [*one.call.node.args, *(k.value for k in one.call.node.keywords)]
        for n in ast.walk(a)
        # A function of that name makes a conversation anew.
        if isinstance(n, ast.Name) and not _is_called(one.call.module, n)
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
    Example("""
from vllm import LLM, SamplingParams

def conversation(text):
    return [{"role": "user", "content": text}]

engine = LLM(model="org/name")
for row in rows():
    print(engine.chat([conversation(row["text"])], SamplingParams())[0].outputs[0].text)  # found
"""),
    Example(
        _BODY.format(
            loop='for line in open("prompts.txt"):\n    print(llm.generate([line], SamplingParams(max_tokens=9)))  # found'
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
    for question in questions:
        found.append(answer(question))  # found
    return found
"""),
    Example("""
import glob
import sglang as sgl

def main():
    engine = sgl.Engine(model_path="org/model")
    for path in sorted(glob.glob("pages/*.txt")):
        with open(path) as page:
            prompt = "Summarise: " + page.read()
        print(engine.generate(prompt, {"max_new_tokens": 64})["text"])  # found
"""),
    Example(
        _BODY.format(
            loop='lines = open("prompts.txt").readlines()\nanswers = [llm.generate(x)[0] for x in lines]  # found'
        )
    ),
    Example(
        _BODY.format(
            loop="def ask(x):\n    return llm.generate([x])[0]\n\n"
            'answers = {x: ask(x) for x in open("prompts.txt")}  # found'
        )
    ),
    Example(
        _BODY.format(
            loop='for row in rows():\n    turns = [{"role": "system", "content": "x"}, {"role": "user", "content": row}]\n'
            "    llm.chat(turns)  # found"
        )
    ),
    Example(
        _BODY.format(
            loop="for row in rows():\n    turns = [dict(role=r, content=row[r]) for r in ('system', 'user')]\n"
            "    one = [row.text]\n    llm.generate(one)  # found"
        )
    ),
    Example(
        _BODY.format(
            loop="import pandas\n\ndef ask(text):\n    return llm.generate([text])[0]  # found\n\n"
            'print(pandas.read_csv("prompts.csv")["prompt"].apply(ask))'
        )
    ),
)
GOOD = (
    Example(
        _BODY.format(
            loop='lines = open("prompts.txt").readlines()\nfor out in llm.generate(lines):\n    print(out)'
        )
    ),
    Example(_BODY.format(loop='print([llm.generate(x) for x in ("a", "b")])')),
    Example(
        _BODY.format(
            loop='import datasets\n\ndef ask(rows):\n    return {"answer": llm.generate(rows["prompt"])}\n\n'
            'datasets.load_dataset("csv", data_files="prompts.csv")["train"].map(ask, batched=True)'
        )
    ),
    Example(
        _BODY.format(loop='print([o.outputs[0].text for o in llm.generate(open("prompts.txt").readlines())])')
    ),
    Example(
        _BODY.format(
            loop='lines = open("prompts.txt").readlines()\n'
            "print([llm.generate(lines[i : i + 64]) for i in range(0, len(lines), 64)])"
        )
    ),
    Example(
        _BODY.format(
            loop="def blocks(rows, n):\n    for i in range(0, len(rows), n):\n        yield rows[i : i + n]\n\n"
            "for rows in blocks(list(open('prompts.txt')), 64):\n    llm.generate([f'Q: {row}' for row in rows])"
        )
    ),
    Example(
        _BODY.format(
            loop="def blocks(rows, n):\n    for i in range(0, len(rows), n):\n        yield rows[i : i + n]\n\n"
            "for part in blocks(list(open('prompts.txt')), 64):\n    llm.generate(part)"
        )
    ),
    Example(
        _BODY.format(
            loop="for name, group in table.groupby('language'):\n    asked = []\n    for row in group.itertuples():\n"
            "        asked.append(row.text)\n    llm.generate(asked)"
        )
    ),
    Example(
        _BODY.format(
            loop="def turns(row):\n    return [{'role': 'user', 'content': row}]\n\n"
            "for rows in loaded():\n    llm.chat([turns(row) for row in rows])"
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
