"""Adapters that are frozen with the model that they were put into just before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.freezing import Freezing, freezings, trainable_again

# What makes an adapter's weights trainable again, or puts in another one.
AGAIN = ("add_adapter", "set_adapter", "enable_adapters", "load_adapter", "train_adapter")


def frozen_adapters(code: Code) -> Iterator[tuple[Freezing, Call]]:
    """The statement that freezes all of a model, and the call that has put an adapter into it before."""
    added = [*code.methods("add_adapter"), *code.calls("peft.get_peft_model")]
    if not added or trainable_again(code):
        return
    for one in freezings(code):
        model = ast.unparse(one.model)
        function = one.module.function(one.node)
        own = [
            c
            for c in added
            if c.module is one.module and one.module.function(c.node) is function and _holds(c, model)
        ]
        before = [c for c in own if c.node.lineno < one.node.lineno]
        after = [
            c
            for c in (*own, *(m for name in AGAIN for m in code.methods(name)))
            if c.node.lineno > one.node.lineno
        ]
        if before and not after:
            yield one, before[-1]


def _holds(call: Call, model: str) -> bool:
    """Whether it is this model that has the adapter then."""
    if call.name != "peft.get_peft_model":
        return call.receiver is not None and ast.unparse(call.receiver) == model
    statement = call.module.statement(call.node)
    return isinstance(statement, ast.Assign) and any(ast.unparse(t) == model for t in statement.targets)
