"""Weights that are quantised as a model is loaded, and a configuration for it that reaches no model."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact

CONFIGURATIONS = ("transformers.BitsAndBytesConfig",)
KINDS = (("load_in_4bit", "4bit"), ("load_in_8bit", "8bit"))
# By these names a configuration is handed on.
GIVEN_AS = ("quant", "bnb")


def quantised_facts(code: Code, loaded: Sequence[Call]) -> Iterator[Fact]:
    """Facts of quantization: what the configuration says, or that the model is loaded without it."""
    made = code.calls(*CONFIGURATIONS)
    plain = [c for c in loaded if not c.may_have("quantization_config")]
    if made and plain and len(plain) == len(loaded) and not _is_given(code, made):
        how = "the quantization's configuration is made and reaches no model"
        yield Fact("quantization", "none", plain[0].site, how, "quantization_config")
        return
    for call in [*made, *loaded]:
        for argument, kind in KINDS:
            value = call.constant(argument)
            if value is not None and value.value is True:
                yield Fact("quantization", kind, value.site, f"{argument}=", argument)


def _is_given(code: Code, made: Sequence[Call]) -> bool:
    """Whether anything is called with, or holds under its name, what could be such a configuration."""
    nodes = {call.node for call in made}
    calls = ((m, c) for m in code.modules for c in m.nodes(ast.Call))
    given = ((m, v) for m, c in calls for v in (*c.args, *(k.value for k in c.keywords)))
    if any(
        o.node in nodes
        for m, v in given
        if isinstance(v, (ast.Name, ast.Attribute))
        for o in code.origins(m, v)
    ):
        return True
    for module in code.modules:
        keywords = [k for c in module.nodes(ast.Call) for k in c.keywords]
        names = [k.arg for k in keywords if k.arg is not None and not k.arg.startswith("bnb_4bit")]
        if any(name.startswith(GIVEN_AS) for name in names):
            return True
        texts = [n.value for n in module.nodes(ast.Constant) if isinstance(n.value, str)]
        stored = [n.attr for n in module.nodes(ast.Attribute) if isinstance(n.ctx, ast.Store)]
        if "quantization_config" in texts or any("quantization" in name for name in stored):
            return True
    return False
