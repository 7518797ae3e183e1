"""A number such as 1e-4 that YAML reads as a text, given to an optimizer.

Why: YAML 1.1 wants a dot in a number with an exponent; PyYAML gives the text "1e-4", and torch compares it with 0.0.
Refuted by: float() on the way, OmegaConf or Hydra, which read it as a number, a dot in it.
Holds for: pyyaml, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS
from firstcause.schema.finding import Category, Finding
from firstcause.source.configs.file import ConfigFile
from firstcause.source.flow import new_walk
from firstcause.source.walk import Origin

SLUG = "config-number-is-text"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# What YAML 1.1 takes for a number with an exponent.
NUMBER = re.compile(r"[-+]?(\d[\d_]*)\.[\d_]*([eE][-+]\d+)?|[-+]?\.\d[\d_]*([eE][-+]\d+)?")


def find(code: Code) -> Iterator[Finding]:
    for name in sorted(OPTIMIZERS):
        for call in code.calls(f"torch.optim.{name}"):
            yield from _checked(code, call)


def _checked(code: Code, call: Call) -> Iterator[Finding]:
    for argument in ("lr", "weight_decay", "eps", "momentum"):
        value = call.argument(argument, 1 if argument == "lr" else None)
        origins = new_walk(code.project).origins(value) if value is not None else []
        if len(origins) == 1 and _is_text(origins[0]):
            origin = origins[0]
            text = f"yaml reads {origin.text} as a text, and {call.name.rpartition('.')[2]} compares {argument} with 0.0: write "
            text += f"{float(origin.text):.1e}, or float(…) in the code"
            yield Finding(
                SLUG, CATEGORY, origin.site, text, got=origin.text, argument=argument, related=(call.site,)
            )


def _is_text(origin: Origin) -> bool:
    config, node = origin.module, origin.node
    if (
        not isinstance(config, ConfigFile)
        or not isinstance(node, ast.Constant)
        or not isinstance(node.value, float)
    ):
        return False
    readers = {r.partition(".")[0] for r in config.readers}
    converted = any(
        isinstance(hop.node, ast.Call) and hop.module is not config and _converts(hop.node)
        for hop in origin.hops
    )
    return readers == {"yaml"} and not converted and not NUMBER.fullmatch(origin.text)


def _converts(node: ast.Call) -> bool:
    return getattr(node.func, "id", "") in ("float", "int")


_CODE = """
import torch
import yaml

with open("config.yaml") as file:
    config = yaml.safe_load(file)
optimizer = torch.optim.{name}([torch.zeros(1)], lr={lr})
"""
_PLAIN = 'config["lr"]'
BAD = (
    Example(_CODE.format(name="AdamW", lr=_PLAIN), {"config.yaml": "lr: 1e-4  # found\n"}),
    Example(_CODE.format(name="SGD", lr=_PLAIN), {"config.yaml": "lr: 1.0e4  # found\n"}),
)
GOOD = (
    Example(_CODE.format(name="AdamW", lr=_PLAIN), {"config.yaml": "lr: 1.0e-4\n"}),
    Example(_CODE.format(name="AdamW", lr=f"float({_PLAIN})"), {"config.yaml": "lr: 1e-4\n"}),
    Example(
        _CODE.format(name="AdamW", lr=_PLAIN)
        .replace("yaml.safe_load", "OmegaConf.load")
        .replace("import yaml", "from omegaconf import OmegaConf"),
        {"config.yaml": "lr: 1e-4\n"},
    ),
    Example(_CODE.format(name="AdamW", lr=_PLAIN), {"config.yaml": "lr: 0.0001\n"}),
)
