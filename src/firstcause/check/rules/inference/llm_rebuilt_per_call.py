"""An inference engine is built inside a loop, in a function that a loop calls, or in one that answers requests.

Why: each build loads the weights and takes the device's memory again: minutes a time, and out of memory at the second.
Refuted by: a guard that builds it once, a cache, a loop over different models.
Holds for: vllm, sglang, transformers' pipelines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.rule import Example
from firstcause.check.steps import reached
from firstcause.schema.finding import Category, Finding

SLUG = "llm-rebuilt-per-call"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

ENGINES = ("vllm.LLM", "sglang.Engine", "transformers.pipeline", "transformers.pipelines.pipeline")
# What FastAPI, Flask and their kin call what answers a request.
ROUTES = frozenset({"get", "post", "put", "patch", "delete", "route", "api_route", "websocket"})
FRAMEWORKS = frozenset({"FastAPI", "APIRouter", "Flask", "Blueprint", "Quart", "Starlette", "Litestar"})
CACHES = ("cache", "lru_cache", "cached_property", "cache_resource", "fixture")


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*ENGINES):
        if _built_once(call):
            continue
        answers = _handler(code, call)
        if answers:
            text = f"{call.name} is built anew for each request that {answers}() answers, with all its weights; build it once"
            yield finding(SLUG, CATEGORY, call.module, call.node, text)
            continue
        for loop in code.loops():
            if any(n is call.node for _, n in reached(code, loop)) and not _varies(call, loop):
                text = f"{call.name} is built anew in each round of the loop at line {loop.node.lineno}, with all its weights"
                yield finding(
                    SLUG, CATEGORY, call.module, call.node, text, related=(loop.module.site(loop.node),)
                )
                break


def _handler(code: Code, call: Call) -> str:
    """The name of the function around a call, where a web framework calls it for each request: ``@app.post("/draft")``."""
    function = call.module.function(call.node)
    statement = call.module.statement(call.node)
    kept = isinstance(statement, ast.Assign) and not all(isinstance(t, ast.Name) for t in statement.targets)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or kept:
        return ""
    if any(isinstance(p, ast.ExceptHandler) for p in call.module.ancestors(call.node)):
        return ""
    if any(isinstance(n, ast.Global) for n in ast.walk(function)):
        return ""
    model = call.argument("model", 0 if not call.name.endswith("pipeline") else 1)
    named = {n.id for n in ast.walk(model.node) if isinstance(n, ast.Name)} if model is not None else set()
    if named & {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}:
        # Another model for each request.
        return ""
    for decorator in function.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else None
        if isinstance(made, ast.Attribute) and made.attr in ROUTES:
            makers = code.made_by(call.module, made.value)
            if any(m.rpartition(".")[2] in FRAMEWORKS for m in makers):
                return function.name
    return ""


def _built_once(call: Call) -> bool:
    """A test around it, a caching decorator on its function, or no way in from a loop."""
    for parent in call.module.ancestors(call.node):
        if isinstance(parent, ast.If):
            return True
        decorators = getattr(parent, "decorator_list", [])
        if any(ast.unparse(d).partition("(")[0].rpartition(".")[2] in CACHES for d in decorators):
            return True
        if isinstance(parent, ast.FunctionDef) and parent.name == "__init__":
            return True
    return False


def _varies(call: Call, loop: Loop) -> bool:
    """Whether the model's name changes from round to round: another engine is wanted each time."""
    target = loop.node.target if isinstance(loop.node, (ast.For, ast.AsyncFor)) else None
    bound = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)} if target is not None else set()
    model = call.argument("model", 0 if not call.name.endswith("pipeline") else 1)
    names = {n.id for n in ast.walk(model.node) if isinstance(n, ast.Name)} if model is not None else set()
    return bool(bound & names) and call.module is loop.module


BAD = (
    Example("""
from fastapi import FastAPI
from vllm import LLM, SamplingParams

app = FastAPI()

@app.post("/draft")
def draft(mail: dict) -> dict:
    llm = LLM(model="org/model")  # found
    return {"reply": llm.generate([mail["text"]], SamplingParams(max_tokens=64))[0].outputs[0].text}
"""),
    Example("""
from vllm import LLM, SamplingParams

def answer(prompt):
    llm = LLM(model="org/model")  # found
    return llm.generate([prompt], SamplingParams())

for line in open("prompts.txt"):
    print(answer(line))
"""),
    Example("""
from transformers import pipeline

for text in ["a", "b"]:
    tagger = pipeline("text-classification", model="org/model")  # found
    print(tagger(text))
"""),
)
GOOD = (
    Example("""
from unittest import mock
from vllm import LLM

@mock.patch("app.notify")
def test_draft(notify):
    llm = LLM("facebook/opt-125m")
    assert llm.generate(["a"])
"""),
    Example("""
from vllm import LLM

llm = LLM(model="org/model")
for line in open("prompts.txt"):
    print(llm.generate([line]))
"""),
    Example("""
from vllm import LLM

for name in ["org/a", "org/b"]:
    llm = LLM(model=name)
    print(llm.generate(["x"]))
"""),
    Example("""
from functools import lru_cache
from transformers import pipeline

@lru_cache
def tagger():
    return pipeline("text-classification", model="org/model")

for text in ["a", "b"]:
    print(tagger()(text))
"""),
)
