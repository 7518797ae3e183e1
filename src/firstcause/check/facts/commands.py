"""Servers that the code starts by a list of words: ``subprocess.Popen(["vllm", "serve", MODEL, "--port", "8001"])``."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.servers import FAMILY, SHORT
from firstcause.check.facts.table import families
from firstcause.check.facts.values import known_value
from firstcause.source.module import Module
from firstcause.source.values import of_text

LAUNCHES = (("vllm", ("vllm", "serve")), ("sglang", ("sglang.launch_server",)))


def command_facts(code: Code) -> Iterator[Fact]:
    """Facts of framework, model, num_gpus and lengths of each server whose command the code writes as a list."""
    for module in code.modules:
        for words in module.nodes(ast.List):
            texts = [w.value if isinstance(w, ast.Constant) else None for w in words.elts]
            for engine, start in LAUNCHES:
                begins = next(
                    (i for i in range(len(texts)) if tuple(texts[i : i + len(start)]) == start), None
                )
                if begins is not None:
                    yield Fact("framework", engine, module.site(words), f"{engine}'s server")
                    yield from _words(code, module, words.elts[begins + len(start) :], engine)


def _words(code: Code, module: Module, words: list[ast.expr], engine: str) -> Iterator[Fact]:
    """The model that is served, then each option with the word after it."""
    family = next(f for f in families() if f.name == FAMILY[engine])
    first = known_value(code, module, words[0]) if words and not isinstance(words[0], ast.Starred) else None
    if engine == "vllm" and first is not None and not str(first.value).startswith("-"):
        yield Fact("model", first.value, first.site, "the served model", "model", not first.overridable)
    for option, given in itertools.pairwise(words):
        text = option.value if isinstance(option, ast.Constant) else None
        if not isinstance(text, str) or not text.startswith("--") or isinstance(given, ast.Starred):
            continue
        name = text.lstrip("-").replace("-", "_")
        name = name if name in family.arguments else SHORT.get(name, name)
        key = family.arguments.get(name)
        found = known_value(code, module, _unwrapped(given)) if key is not None else None
        if key is not None and found is not None:
            number = of_text(found.value)
            value = normal(key, found.value if number is None else number)
            yield Fact(key, value, found.site, f"--{name} of {engine}", name, not found.overridable)


def _unwrapped(node: ast.expr) -> ast.expr:
    """What ``str(…)`` makes a word of."""
    is_text = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
    return node.args[0] if is_text and isinstance(node, ast.Call) and len(node.args) == 1 else node
