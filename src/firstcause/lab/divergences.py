"""Finds the divergence of a normal distribution from the standard one in the sums that a program writes. Sealed child only.

``1 + logvar - mu ** 2 - logvar.exp()``, in any order and with factors, or with the logarithm of a variance or a deviation.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.audit import Call
from firstcause.lab.derived import Derived

FUNCTIONS = {"exp": "exp", "log": "log", "square": "square", "pow": "square", "mul": "square"}
FACTORS = frozenset({"mul", "rmul", "div", "truediv", "neg"})
SUMS = frozenset({"add", "radd", "sub", "rsub", "iadd", "isub"})
CALLS = frozenset(FUNCTIONS) | FACTORS | SUMS
# A sum of more parts is another thing.
MOST_PARTS = 12
Part = tuple[str, int]


class Divergences:
    """What each tensor is a function of, and which parts a sum has."""

    def __init__(self) -> None:
        self.numbers: Derived[int] = Derived()
        self.made: Derived[Part] = Derived()
        self.sums: Derived[frozenset[Part]] = Derived()
        self.interned: dict[Part, int] = {}
        self.count = 0

    def called(self, call: Call) -> bool:
        """Whether the result of this call has all parts of a divergence."""
        given, result = call.args[0] if call.args else None, call.result
        if not isinstance(given, torch.Tensor) or not isinstance(result, torch.Tensor):
            return False
        if call.name in SUMS:
            parts = frozenset[Part]().union(*(self._parts(x) for x in call.args[:2]))
            if len(parts) <= MOST_PARTS:
                self.sums.note(result, parts)
                return _is_divergence(parts, self.interned)
            return False
        if call.name in FACTORS and not _is_square(call):
            other = call.args[1] if len(call.args) > 1 else 1
            if isinstance(other, int | float):
                self._hand_on(given, result)
            return False
        if call.name in FUNCTIONS and (call.name in ("exp", "log") or _is_square(call)):
            self.made.note(result, (FUNCTIONS[call.name], self._number(given)))
        return False

    def _number(self, tensor: torch.Tensor) -> int:
        """One for each value: two tensors made alike of one have the same."""
        found, made = self.numbers.of(tensor), self.made.of(tensor)
        if found is None:
            self.count += 1
            found = self.interned.setdefault(made, self.count) if made is not None else self.count
            self.numbers.note(tensor, found)
        return found

    def _parts(self, value: Any) -> frozenset[Part]:
        if not isinstance(value, torch.Tensor):
            return frozenset()
        known, made = self.sums.of(value), self.made.of(value)
        if known is not None:
            return known
        own = {("plain", self._number(value))}
        return frozenset(own | {made}) if made is not None else frozenset(own)

    def _hand_on(self, given: torch.Tensor, result: torch.Tensor) -> None:
        known, made = self.sums.of(given), self.made.of(given)
        if known is not None:
            self.sums.note(result, known)
        self.numbers.note(result, self._number(given))
        if made is not None:
            self.made.note(result, made)


def _is_square(call: Call) -> bool:
    if call.name == "square":
        return True
    other = call.args[1] if len(call.args) > 1 else call.kwargs.get("exponent")
    if call.name == "mul":
        return other is call.args[0]
    return call.name == "pow" and isinstance(other, int | float) and other == 2


def _is_divergence(parts: frozenset[Part], interned: dict[Part, int]) -> bool:
    """A variance, its logarithm, and the square of something else."""
    plain = {n for kind, n in parts if kind == "plain"}
    squares = {n for kind, n in parts if kind == "square"}
    for kind, number in parts:
        if kind == "exp" and number in plain and squares - {number}:
            return True
        # The square of a deviation beside its logarithm, or beside that of the square.
        own = {n for n in squares if n == number or interned.get(("square", n)) == number}
        if kind == "log" and (number in plain or own) and squares - own:
            return True
    return False
