"""A whole model is saved, and read by a load that takes tensors alone.

Why: weights_only=True, the default since torch 2.6, refuses classes: UnpicklingError when the file is read.
Refuted by: a state_dict saved instead, weights_only=False, safe globals, an older torch without weights_only.
Holds for: torch since 2.6, and before where weights_only=True is written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.rules.checkpoints.saved_and_loaded_differently import saved_kind, written_name
from firstcause.check.versions import holds
from firstcause.schema.finding import Category, Finding

SLUG = "checkpoint-unsafe-or-unreadable"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & {"add_safe_globals", "safe_globals"}:
        return
    for load in code.calls("torch.load"):
        path = load.argument("f", 0)
        read = code.text_of(path) if path is not None else None
        if read is None or "{}" in str(read.value) or not _tensors_alone(code, load):
            continue
        saves = [s for s in code.calls("torch.save") if written_name(code, s) == read.value]
        if saves and all(saved_kind(code, s) == "model" for s in saves):
            text = (
                f"{read.value} holds a whole model (line {saves[0].node.lineno}), which weights_only refuses; "
                "save its state_dict()"
            )
            yield finding(SLUG, CATEGORY, load.module, load.node, text, related=(saves[0].site,))


def _tensors_alone(code: Code, load: Call) -> bool:
    given = load.constant("weights_only")
    if given is not None:
        return given.value is True
    return not load.may_have("weights_only") and holds(code.versions.get("torch"), ">=2.6")


_BODY = """
import torch
from torch import nn

net = nn.Linear(4, 2)
torch.save({what}, "net.pt")
again = torch.load("net.pt"{given}){mark}
"""
BAD = (
    Example(_BODY.format(what="net", given=", weights_only=True", mark="  # found")),
    Example(_BODY.format(what="net", given="", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(what="net.state_dict()", given="", mark="")),
    Example(_BODY.format(what="net", given=", weights_only=False", mark="")),
    Example(_BODY.format(what='{"net": net.state_dict()}', given="", mark="")),
)
