"""The calls of OpenAI's client that have a model answer, and which of them surely are its own."""

from __future__ import annotations

import ast

from firstcause.check.code import Call, Code, is_own_attribute

REQUESTS = (
    "completions.create",
    "completions.parse",
    "completions.stream",
    "responses.create",
)


def requests(code: Code) -> list[Call]:
    """The calls of OpenAI's client that have a model answer."""
    if not code.imports("openai"):
        return []
    found = code.methods("create", "parse", "stream")
    return [call for call in found if ast.unparse(call.node.func).endswith(REQUESTS)]


def plain_requests(code: Code) -> list[Call]:
    """Those of a client that surely is OpenAI's own, and not wrapped by another library that takes more."""
    return [call for call in requests(code) if _is_own(code, call)]


def _is_own(code: Code, call: Call) -> bool:
    root: ast.expr = call.node.func
    while isinstance(root, ast.Attribute) and not is_own_attribute(root):
        root = root.value
    made = code.made_by(call.module, root) - {""}
    if made:
        return all(m.startswith("openai.") for m in made)
    return isinstance(root, ast.Name) and "OpenAI" in ast.unparse(
        next((a.annotation for a in _arguments(call) if a.arg == root.id and a.annotation is not None), root)
    )


def _arguments(call: Call) -> list[ast.arg]:
    function = call.module.function(call.node)
    return [n for n in ast.walk(function.args) if isinstance(n, ast.arg)] if function is not None else []
