"""Which class of transformers loads a checkpoint."""

from __future__ import annotations

import ast

from firstcause.check.code import Call
from firstcause.source.resolve import external, resolve


def loaded_class(call: Call) -> str:
    """The class whose from_pretrained it is, as it is written."""
    receiver = call.receiver
    if receiver is None:
        return ""
    name = external(resolve(call.code.project, call.module, receiver))
    return (name or ast.unparse(receiver)).rpartition(".")[2]
