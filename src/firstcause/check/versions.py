"""Versions of libraries: numbers of a release compared, and whether a range holds."""

from __future__ import annotations

import re

_RANGE = re.compile(r"(>=|<=|==|!=|<|>)\s*([\d.]+)")


def release(version: str) -> tuple[int, ...]:
    """The numbers of a release: "2.13.0+cpu" is (2, 13, 0)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(n) for n in match[0].split(".")) if match else ()


def holds(version: str | None, wanted: str) -> bool:
    """Whether a version lies in a range such as ">=4.46,<5"; an unknown version is taken to be the newest."""
    if version is None:
        return not any(op in ("<", "<=", "==") for op, _ in _RANGE.findall(wanted))
    return all(_compare(release(version), op, release(bound)) for op, bound in _RANGE.findall(wanted))


def _compare(one: tuple[int, ...], op: str, other: tuple[int, ...]) -> bool:
    length = max(len(one), len(other))
    left, right = one + (0,) * (length - len(one)), other + (0,) * (length - len(other))
    return {
        ">=": left >= right,
        "<=": left <= right,
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        ">": left > right,
    }[op]
