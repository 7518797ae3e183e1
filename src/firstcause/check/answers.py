"""Whether a text is what a model wrote: an engine's output, decoded tokens, a chat completion."""

from __future__ import annotations

import ast

from firstcause.check.code import Code
from firstcause.check.engines import generations
from firstcause.source.module import Module

# Methods that give a part or another form of the same text.
TEXT = frozenset(
    {"strip", "lstrip", "rstrip", "replace", "lower", "removeprefix", "removesuffix", "split", "partition"}
)


HOPS = 5


def is_answer(code: Code, module: Module, node: ast.expr, hops: int = HOPS) -> bool:
    """Whether every origin of a text is an answer of a model."""
    # A bracket that is put at the end leaves the text an answer.
    origins = [o for o in code.origins(module, node) if not _completed(o.node)]
    return bool(origins) and all(_of(code, o.module, o.node, hops) for o in origins)


def _of(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    while True:
        if isinstance(node, ast.Subscript) and not _is_generated(node):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT:
            node = node.func.value
        else:
            break
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.sub" and len(node.args) > 2:
        return hops > 0 and is_answer(code, module, node.args[2], hops - 1)
    if isinstance(node, ast.Name):
        return hops > 0 and is_answer(code, module, node, hops - 1)
    if isinstance(node, ast.Attribute):
        shown = ast.unparse(node)
        return (node.attr == "text" and ".outputs[" in shown) or (
            node.attr == "content" and ".choices[" in shown
        )
    if isinstance(node, ast.Subscript):
        return bool(generations(code))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("decode", "batch_decode")
    ):
        return bool(generations(code))
    return False


def _completed(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)


def _is_generated(node: ast.Subscript) -> bool:
    """``pipe(prompt)[0]["generated_text"]``."""
    return isinstance(node.slice, ast.Constant) and node.slice.value in (
        "generated_text",
        "summary_text",
        "translation_text",
    )
