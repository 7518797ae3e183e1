"""Facts from the arguments of known calls, by the catalogue's table."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import families
from firstcause.check.facts.values import value_of
from firstcause.check.partials import whole_calls
from firstcause.check.reasons import reason


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
    if found is None or found.value is None:
        return None
    how = f"{call.name.rpartition('.')[2]}({argument}=)"
    key, plain = _as_asked(key, normal(key, found.value))
    if plain is None:
        return None
    return Fact(
        key, plain, found.site, how, argument, not found.overridable, True, reason(call.module, value.node)
    )


def _as_asked(key: str, value: object) -> tuple[str, object]:
    """A number of warm-up steps below 1 is a share, since transformers 5."""
    if key == "warmup_steps" and isinstance(value, float) and 0 < value < 1:
        return "warmup_ratio", value
    return key, value
