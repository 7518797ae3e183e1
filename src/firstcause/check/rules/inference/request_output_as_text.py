"""What an engine returns for a request is used as if it were the text.

Why: vLLM returns one RequestOutput a prompt, whose texts are in .outputs; .text on it raises AttributeError.
Refuted by: .outputs[0].text, an engine of one's own.
Holds for: vllm, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.engines import generations
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "request-output-as-text"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    calls = {g.call.node for g in generations(code) if g.kind == "vllm"}
    if not calls:
        return
    for module in code.modules:
        for node in module.nodes(ast.Attribute):
            if node.attr in ("text", "generated_text") and _is_request(code, module, node.value, calls):
                text = f".{node.attr} is asked of a RequestOutput; its text is .outputs[0].text"
                yield finding(SLUG, CATEGORY, module, node, text)


def _is_request(code: Code, module: Module, value: ast.expr, calls: set[ast.Call]) -> bool:
    """``llm.generate(…)[0]``, or the variable of a loop over it."""
    if isinstance(value, ast.Subscript):
        return _holds(code, module, value.value, calls)
    if not isinstance(value, ast.Name):
        return False
    for parent in module.ancestors(value):
        loops = [parent] if isinstance(parent, ast.For) else getattr(parent, "generators", [])
        for loop in loops:
            if isinstance(loop.target, ast.Name) and loop.target.id == value.id:
                return _holds(code, module, loop.iter, calls)
    return False


def _holds(code: Code, module: Module, node: ast.expr, calls: set[ast.Call]) -> bool:
    origins = code.origins(module, node)
    return bool(origins) and all(o.node in calls for o in origins)


_BODY = """
from vllm import LLM

llm = LLM(model="org/model")
outs = llm.generate(["a", "b"])
{use}{mark}
"""
BAD = (
    Example(_BODY.format(use="print([out.text for out in outs])", mark="  # found")),
    Example(_BODY.format(use="print(outs[0].text)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(use="print([out.outputs[0].text for out in outs])", mark="")),
    Example(
        _BODY.format(
            use="for out in outs:\n    for choice in out.outputs:\n        print(choice.text)", mark=""
        )
    ),
    Example("""
def show(outs):
    return [out.text for out in outs]
"""),
)
