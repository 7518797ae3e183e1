"""Which numbers a key takes, and the form in which its value is kept."""

from __future__ import annotations

from typing import Any

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import Key

_FROM_ZERO = frozenset({"seed", "zero_stage", "save_rank"})


def accepts(key: Key, token: Token) -> bool:
    """Whether a number, as it is written, can be a value of the key."""
    value, unit, kind = token.value, token.unit, key.kind
    if token.spelled and kind == "rate":
        return False
    if token.kind == "range":
        return kind in ("whole", "number") and token.value >= key.least and key.count
    if kind not in ("whole", "rate", "share", "number", "tokens"):
        return False
    if unit == "%":
        return kind == "share" or key.name in ("warmup", "dropout", "weight_decay")
    if unit in ("gb", "mb") or unit == "b":
        return (unit == "gb" and key.name == "gpu_memory_gb") or (unit == "b" and key.name == "model_size_b")
    if unit == "x" and key.name not in ("gradient_accumulation", "num_gpus"):
        return False
    if key.name in ("gpu_memory_gb", "model_size_b") and not unit and key.name == "gpu_memory_gb":
        return False
    if kind in ("whole", "tokens"):
        scaled = value * {"k": 1000, "m": 1e6}.get(unit, 1)
        least = 8 if kind == "tokens" else max(key.least, 0 if key.name in _FROM_ZERO else 1)
        return scaled == int(scaled) and least <= scaled <= key.most and "e-" not in token.text
    if kind == "share":
        return 0 <= value < 1 or (value == 1 and key.name == "top_p")
    if kind == "rate":
        return 0 < value <= key.most and not unit
    return key.least <= value * {"k": 1000, "m": 1e6}.get(unit, 1) <= key.most


def in_normal_form(key: Key, token: Token) -> Any:
    """The value as a number in the key's unit: a share for per cent, 8k tokens as 8192."""
    if token.unit == "%":
        return round(token.value / 100, 12)
    if token.unit == "k":
        return whole(token.value * (1024 if key.kind == "tokens" else 1000))
    if token.unit == "m":
        return whole(token.value * 1e6)
    return whole(token.value)
