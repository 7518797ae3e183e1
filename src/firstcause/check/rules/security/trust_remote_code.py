"""A model is loaded with the leave to run code from its repository.

Why: whoever owns the repository runs code here with your rights, now and after each change, unless a revision is pinned.
Refuted by: a pinned revision, a local folder.
Holds for: transformers, datasets, vllm, sglang.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "trust-remote-code"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

PINS = frozenset({"revision", "code_revision"})


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        for node in module.nodes(ast.keyword):
            if node.arg != "trust_remote_code" or not _is_true(node.value):
                continue
            call = module.parents[node]
            if isinstance(call, ast.Call) and not _pinned(code, module, call):
                text = "trust_remote_code=True runs Python from the repository: pin a revision that you have read"
                yield finding(SLUG, CATEGORY, module, node.value, text, argument="trust_remote_code")


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _pinned(code: Code, module: Module, call: ast.Call) -> bool:
    if any(k.arg in PINS for k in call.keywords):
        return True
    name = code.constant(module, call.args[0]) if call.args else None
    return name is not None and isinstance(name.value, str) and name.value.startswith((".", "/", "~"))


_LOAD = """
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained({name!r}, {arguments}){mark}
"""
BAD = (
    Example(_LOAD.format(name="org/model", arguments="trust_remote_code=True", mark="  # found")),
    Example("""
from vllm import LLM

llm = LLM(model="org/model", trust_remote_code=True)  # found
"""),
)
GOOD = (
    Example(_LOAD.format(name="org/model", arguments="trust_remote_code=False", mark="")),
    Example(_LOAD.format(name="org/model", arguments='trust_remote_code=True, revision="3f1c2ab"', mark="")),
    Example(_LOAD.format(name="./local", arguments="trust_remote_code=True", mark="")),
)
