"""Facts from the arguments of known calls, by the catalogue's table."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import families
from firstcause.check.facts.values import share_of, value_of
from firstcause.check.partials import whole_calls
from firstcause.check.reasons import reason

# What the samples of an update are counted from: where one of them is not known, neither is their number.
COUNTED = frozenset({"gradient_accumulation", "batch_size"})


def argument_facts(code: Code) -> Iterator[Fact]:
    """One fact for each argument of the table that a call gives and whose value the code says."""
    for family in families():
        for call in whole_calls(code, *family.calls):
            for argument, key in family.arguments.items():
                fact = _fact(code, call, argument, key, family.position(argument))
                if fact is not None:
                    yield fact


def _fact(code: Code, call: Call, argument: str, key: str, position: int | None) -> Fact | None:
    value = call.argument(argument, position)
    if value is None:
        return None
    found = value_of(call, argument, position)
    how = f"{call.name.rpartition('.')[2]}({argument}=)"
    if found is None and key == "warmup_steps":
        share = share_of(call.code, value)
        if share is not None:
            return Fact("warmup_ratio", share.value, share.site, how, argument, not share.overridable)
    if found is None and key in COUNTED and not isinstance(value.node, ast.Constant):
        return Fact(key, None, call.module.site(value.node), how, argument, False, False, confirms=True)
    if found is None or found.value is None:
        return None
    key, plain = _as_asked(key, normal(key, found.value))
    if plain is None:
        return None
    why = reason(call.module, value.node)
    use = value.module.site(value.node)
    return Fact(key, plain, found.site, how, argument, not found.overridable, True, why, use=use)


def _as_asked(key: str, value: object) -> tuple[str, object]:
    """A number of warm-up steps below 1 is a share, since transformers 5."""
    if key == "warmup_steps" and isinstance(value, float) and 0 < value < 1:
        return "warmup_ratio", value
    return key, value
