"""Rates and sizes of layers: dropout, and the widths that only confirm."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.networks import DROPOUT, RECURRENT, only_recurrent
from firstcause.source.callsites import last_name

# Which layer is the hidden one the code does not say: what is as wide as asked agrees.
WIDTHS = {
    "torch.nn.Linear": ("out_features", 1),
    "torch.nn.LazyLinear": ("out_features", 0),
    "torch.nn.LSTM": ("hidden_size", 1),
    "torch.nn.GRU": ("hidden_size", 1),
    "torch.nn.RNN": ("hidden_size", 1),
}


def layer_facts(code: Code) -> Iterator[Fact]:
    """The rate of each dropout layer, where the code says it, and how wide layers are."""
    for call in code.calls(*WIDTHS):
        argument, position = WIDTHS[call.name]
        width = call.constant(argument, position)
        if width is not None and isinstance(width.value, int) and width.value > 1:
            how = f"{call.name.rpartition('.')[2]}({argument}=)"
            yield Fact("hidden_size", width.value, width.site, how, argument, sure=False, confirms=True)
    yield from _hidden_layers(code)
    several = only_recurrent(code) is None
    for call in code.calls(*RECURRENT) if several else ():
        for argument, key in (("dropout", "dropout"), ("num_layers", "num_layers")):
            found = call.constant(argument, 2 if argument == "num_layers" else None)
            if found is not None and isinstance(found.value, (int, float)) and found.value:
                how = f"{call.name.rpartition('.')[2]}({argument}=)"
                yield Fact(key, found.value, found.site, how, argument, sure=False, confirms=True)
    for call in code.calls(*DROPOUT):
        rate = call.constant("p", 1 if call.name.endswith("functional.dropout") else 0)
        if rate is not None and isinstance(rate.value, (int, float)):
            yield Fact(
                "dropout",
                rate.value,
                rate.site,
                f"{call.name.rpartition('.')[2]}(p=)",
                "p",
                not rate.overridable,
            )


def _hidden_layers(code: Code) -> Iterator[Fact]:
    """How many layers a ``Sequential`` of nothing but linear ones has before its last, where that was asked for."""
    for call in code.calls("torch.nn.Sequential") if code.asked("num_layers") else ():
        names = [last_name(a.func) if isinstance(a, ast.Call) else "" for a in call.node.args]
        linear = [n for n in names if n.endswith("Linear")]
        if len(linear) > 1 and not any("Conv" in n or not n for n in names):
            # One that ends with an activation has no output layer.
            hidden = len(linear) - names[-1].endswith("Linear")
            how = f"{hidden} hidden ones of {len(linear)}"
            yield Fact("num_layers", hidden, call.site, how, sure=False, confirms=True)
