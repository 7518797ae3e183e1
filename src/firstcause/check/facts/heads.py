"""The last layer of a module that the program writes itself: how many classes it tells apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.makers import call_of, maker
from firstcause.source.classes import own_method
from firstcause.source.resolve import Defined

MODULES = ("torch.nn.Module", "lightning.LightningModule")
HEADS = re.compile(
    r"(?:out(?:put)?|head|heads|classifier|fc|logits|proj|cls|to_logits|out_proj|final)\w{0,4}"
)
# Where one output, or one for each label, is no number of classes.
OTHER = (
    "BCELoss",
    "BCEWithLogitsLoss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "mse_loss",
    "MSELoss",
)


def own_heads(code: Code) -> Iterator[Call]:
    """The linear layer whose output the one module of the program gives back, where cross entropy is taken of it."""
    called = code.called_names()
    if not called & {"CrossEntropyLoss", "cross_entropy"} or called & set(OTHER):
        return
    found = [h for cls in code.subclasses_of(*MODULES) if (h := _head(code, cls)) is not None]
    if len({h.node for h in found}) == 1:
        yield found[0]


def likely_heads(code: Code) -> Iterator[Call]:
    """Linear layers that end a sequence, or are called what heads are: one of them may tell the classes apart."""
    called = code.called_names()
    if not called & {"CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"} or called & set(OTHER):
        return
    sequences = {c.node.args[-1] for c in code.calls("torch.nn.Sequential") if c.node.args}
    for call in code.calls("torch.nn.Linear"):
        statement = call.module.statement(call.node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        named = any(isinstance(t, ast.Attribute) and HEADS.fullmatch(t.attr) for t in targets)
        if call.node in sequences or named:
            yield call


def _head(code: Code, cls: Defined) -> Call | None:
    """``return self.head(…)``, with ``self.head`` a linear layer or a sequence that ends in one."""
    if not isinstance(cls.node, ast.ClassDef):
        return None
    forward = own_method(cls.node, "forward")
    returned = (
        [n.value for n in ast.walk(forward) if isinstance(n, ast.Return)] if forward is not None else []
    )
    if len(returned) != 1 or not isinstance(returned[0], ast.Call):
        return None
    called = returned[0].func
    if (
        not isinstance(called, ast.Attribute)
        or not isinstance(called.value, ast.Name)
        or called.value.id != "self"
    ):
        return None
    made = maker(code, cls.module, called)
    if made is not None and made.name == "torch.nn.Sequential" and made.node.args:
        last = made.node.args[-1]
        made = call_of(code, made.module, last) if isinstance(last, ast.Call) else None
    return made if made is not None and made.name == "torch.nn.Linear" else None
