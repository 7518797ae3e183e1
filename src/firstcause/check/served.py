"""What clients send to a server of vllm's beside the arguments that OpenAI's own client knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.versions import holds
from firstcause.source.launch import servers
from firstcause.source.module import Module

# vllm's page on structured outputs: removed in 0.12.0. Its server takes no notice of fields that it does not know.
GONE_SINCE = ">=0.12"
GONE = {
    "guided_json": "json",
    "guided_regex": "regex",
    "guided_choice": "choice",
    "guided_grammar": "grammar",
    "guided_whitespace_pattern": "whitespace_pattern",
}


def gone_extras(code: Code) -> Iterator[tuple[Module, ast.expr, str, str]]:
    """Entries of ``extra_body`` that the server does not take any more: where, the name, and what stands for it."""
    if not code.imports("openai") or not holds(code.versions.get("vllm"), GONE_SINCE):
        return
    asked = any(i.value == "vllm" and i.polarity == "require" for i in code.asked("framework"))
    if not asked and not any(s.launcher == "vllm" for s in servers(code.project)):
        return
    for call in code.methods("create"):
        given = call.argument("extra_body")
        for origin in code.origins(given.module, given.node) if given is not None else ():
            if not isinstance(origin.node, ast.Dict):
                continue
            for key in origin.node.keys:
                if isinstance(key, ast.Constant) and key.value in GONE:
                    yield origin.module, key, str(key.value), f"structured_outputs={{{GONE[key.value]!r}: …}}"
