"""Weights that are quantised as a model is loaded, and a configuration for it that reaches no model."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.source.module import FUNCTIONS, Module

CONFIGURATIONS = ("transformers.BitsAndBytesConfig",)
KINDS = (("load_in_4bit", "4bit"), ("load_in_8bit", "8bit"))
# By these names a configuration is handed on.
GIVEN_AS = ("quant", "bnb")


def quantised_facts(code: Code, loaded: Sequence[Call]) -> Iterator[Fact]:
    """Facts of quantization: what the configuration says, or that the model is loaded without it."""
    made = code.calls(*CONFIGURATIONS)
    plain = [c for c in loaded if not c.may_have("quantization_config")]
    unused = made and plain and len(plain) == len(loaded) and not _is_given(code)
    if unused and not _is_handed_on(code, {c.node for c in made}):
        how = "the quantization's configuration is made and reaches no model"
        yield Fact("quantization", "none", plain[0].site, how, "quantization_config")
        return
    for call in [*made, *loaded]:
        for argument, kind in KINDS:
            value = call.constant(argument)
            if value is not None and value.value is True:
                yield Fact("quantization", kind, value.site, f"{argument}=", argument)


def _is_handed_on(code: Code, made: set[ast.Call]) -> bool:
    """Whether a configuration is among what a call outside the project is given, or what a container holds."""
    for module in code.modules:
        held = [n for row in (*module.nodes(ast.List), *module.nodes(ast.Tuple)) for n in _elements(row)]
        held += [n for mapping in module.nodes(ast.Dict) for n in mapping.values]
        if any(_comes_from(code, module, one, made) for one in held):
            return True
        for node in module.nodes(ast.Call):
            given = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
            given += [k.value for k in node.keywords]
            if any(_comes_from(code, module, one, made) for one in given):
                call = Call(code, module, node, "")
                if not any(isinstance(d.node, FUNCTIONS) for d in code.callees_of(call)):
                    return True
    return False


def _elements(row: ast.expr) -> list[ast.expr]:
    return row.elts if isinstance(row, (ast.List, ast.Tuple)) else []


def _comes_from(code: Code, module: Module, node: ast.expr, made: set[ast.Call]) -> bool:
    return not isinstance(node, ast.Constant) and any(o.node in made for o in code.origins(module, node))


def _is_given(code: Code) -> bool:
    """Whether anything is called with, or holds under its name, what could be such a configuration."""
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
