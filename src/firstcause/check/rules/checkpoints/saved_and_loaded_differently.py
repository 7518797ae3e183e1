"""A file is read as something else than what the program wrote into it.

Why: a whole model is no dictionary of weights, and weights alone cannot be called: the loading, or the first use, raises.
Refuted by: one form for both, another file, a key taken of what was read.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.devices import is_model
from firstcause.check.makers import first_maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "saved-and-loaded-differently"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for load in code.calls("torch.load"):
        path = load.argument("f", 0)
        read = code.text_of(path) if path is not None else None
        if read is None or "{}" in str(read.value):
            continue
        saves = [s for s in code.calls("torch.save") if written_name(code, s) == read.value]
        kinds = {saved_kind(code, s) for s in saves}
        if len(kinds) != 1:
            continue
        kind, use = kinds.pop(), _use(code, load)
        if kind == "model" and use == "weights":
            text = f"load_state_dict gets a whole model: {read.value} holds the model itself (line {saves[0].node.lineno})"
            yield finding(SLUG, CATEGORY, load.module, load.node, text, related=(saves[0].site,))
        elif kind == "weights" and use == "model":
            text = f"{read.value} holds weights alone (line {saves[0].node.lineno}); build the model and load_state_dict them"
            yield finding(SLUG, CATEGORY, load.module, load.node, text, related=(saves[0].site,))


def written_name(code: Code, save: Call) -> object:
    target = save.argument("f", 1)
    known = code.text_of(target) if target is not None else None
    return known.value if known is not None else None


def saved_kind(code: Code, save: Call) -> str:
    value = save.argument("obj", 0)
    if value is None:
        return ""
    node = value.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict":
        return "weights"
    made = first_maker(code, value.module, node)
    return "model" if made is not None and is_model(code, made.module, made.node) else ""


def _use(code: Code, load: Call) -> str:
    """What is done with what was read: loaded as weights, or used as a model."""
    module, parent = load.module, load.module.parents.get(load.node)
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "load_state_dict"
    ):
        return "weights"
    if isinstance(parent, ast.Attribute) and parent.attr in ("eval", "to", "cuda", "forward"):
        return "model"
    statement = module.statement(load.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return ""
    name, function = statement.targets[0].id, module.function(load.node)
    for node in ast.walk(function if function is not None else module.tree):
        if not isinstance(node, ast.Call) or node.lineno < load.node.lineno:
            continue
        loads = isinstance(node.func, ast.Attribute) and node.func.attr == "load_state_dict"
        if loads and node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == name:
            return "weights"
        on = (
            node.func.value
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("eval", "cuda")
            else None
        )
        if isinstance(on, ast.Name) and on.id == name:
            return "model"
    return ""


_BODY = """
import torch
from torch import nn

def save():
    net = nn.Linear(4, 2)
    torch.save({what}, "net.pt")

def restore():
    {load}{mark}
    {use}
"""
BAD = (
    Example(
        _BODY.format(
            what="net",
            load='state = torch.load("net.pt")',
            mark="  # found",
            use="return nn.Linear(4, 2).load_state_dict(state)",
        )
    ),
    Example(
        _BODY.format(
            what="net.state_dict()",
            load='net = torch.load("net.pt")',
            mark="  # found",
            use="return net.eval()",
        )
    ),
)
GOOD = (
    Example(
        _BODY.format(
            what="net.state_dict()",
            load='state = torch.load("net.pt")',
            mark="",
            use="return nn.Linear(4, 2).load_state_dict(state)",
        )
    ),
    Example(
        _BODY.format(
            what="net",
            load='net = torch.load("net.pt", weights_only=False)',
            mark="",
            use="return net.eval()",
        )
    ),
    Example(
        _BODY.format(
            what="net",
            load='state = torch.load("other.pt")',
            mark="",
            use="return nn.Linear(4, 2).load_state_dict(state)",
        )
    ),
)
