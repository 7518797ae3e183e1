"""Rates and sizes of layers: dropout."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact

DROPOUT = ("torch.nn.Dropout", "torch.nn.Dropout1d", "torch.nn.Dropout2d", "torch.nn.functional.dropout")


def layer_facts(code: Code) -> Iterator[Fact]:
    """The rate of each dropout layer, where the code says it."""
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
