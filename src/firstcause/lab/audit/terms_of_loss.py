"""The terms that a loss is the sum of, and the gradient of each on the weights that they share."""

from __future__ import annotations

import math
import sys
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher, terms_regressed
from firstcause.lab.derived import Derived

# The steps at which gradients are taken term by term: each costs one more backward pass a term.
LOOKED_AT = (0, 1, 4, 16)
MOST_TERMS = 6
SUMS = frozenset({"add", "radd", "iadd", "sub", "mul", "rmul", "div", "truediv"})


class Watch(Watcher):
    """The columns ``term 0``, ``term 1``…; with ``settings["scaled"]``, {number: factor}, a term counts that much.

    With ``settings["standardised"]``, [number, its ``error``], the targets of a term have mean 0 and spread 1; its column
    stays in the unit that it was in.
    """

    CALLS = SUMS | terms_regressed.CALLS

    def start(self) -> None:
        self.scaled = {int(k): float(v) for k, v in (self.settings.get("scaled") or {}).items()}
        self.units: dict[int, float] = {}
        self.regressions = terms_regressed.Regressions()
        if self.settings.get("standardised"):
            number, error = self.settings["standardised"]
            self.units[int(number)] = error["spread"] ** error["power"]
            self.mode = terms_regressed.Scaled(error)
            self.mode.__enter__()
        self.sums: Derived[list[tuple[torch.Tensor, dict[str, Any]]]] = Derived()
        self.weights: Derived[float] = Derived()
        self.terms: list[torch.Tensor] = []
        self.sites: list[dict[str, Any]] = []
        self.norms: list[list[float]] = []
        self.steps = 0
        self.values: dict[str, float] = {}
        self.several = False

    def called(self, call: Call) -> None:
        if call.name in terms_regressed.CALLS:
            self.regressions.called(call)
        if call.name not in SUMS:
            return
        result = call.result
        if not isinstance(result, torch.Tensor) or result.dim() or not result.requires_grad:
            return
        if call.name in ("mul", "rmul", "div", "truediv"):
            self._weighed(call)
            return
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is None:
            return
        parts: list[tuple[torch.Tensor, dict[str, Any]]] = []
        for place, operand in enumerate(call.args[:2]):
            if isinstance(operand, torch.Tensor) and operand.requires_grad:
                parts += self.sums.of(operand) or [
                    (
                        operand,
                        site
                        | {
                            "operand": place,
                            "weight": self.weights.of(operand) or 1.0,
                            "error": self.regressions.known.of(operand),
                        },
                    )
                ]
        self.sums.note(result, parts)

    def _weighed(self, call: Call) -> None:
        """A number that the program multiplies a term with says how much it is meant to count."""
        numbers = [float(x) for x in call.args[:2] if isinstance(x, int | float)]
        if len(numbers) == 1 and numbers[0]:
            factor = numbers[0] if call.name in ("mul", "rmul") else 1 / numbers[0]
            self.weights.note(call.result, abs(factor))

    def loss(self, value: torch.Tensor) -> None:
        parts = self.sums.of(value) or []
        if self.terms or not 2 <= len(parts) <= MOST_TERMS or (self.sites and len(parts) != len(self.sites)):
            self.several = True
            return
        self.terms = [t for t, _ in parts]
        self.sites = self.sites or [s for _, s in parts]
        self.values = {
            f"term {i}": float(t.detach()) * self.units.get(i, 1.0) for i, t in enumerate(self.terms)
        }
        if self.steps in LOOKED_AT and not self.scaled and not self.units:
            self._measure()
        for number, factor in self.scaled.items():
            self.terms[number].register_hook(lambda g, factor=factor: g * factor)

    def _measure(self) -> None:
        """The norm of each term's gradient on the parameters that at least two of them reach."""
        reached = [_parameters(t) for t in self.terms]
        counted: dict[int, int] = {}
        for one in reached:
            for number in one:
                counted[number] = counted.get(number, 0) + 1
        norms = []
        for term, one in zip(self.terms, reached, strict=True):
            shared = [p for number, p in one.items() if counted[number] > 1]
            try:
                ways = (
                    torch.autograd.grad(term, shared, retain_graph=True, allow_unused=True) if shared else ()
                )
            except RuntimeError:
                # A graph that cannot be walked twice, as under reentrant checkpointing.
                return
            norms.append(math.sqrt(sum(float(w.float().norm()) ** 2 for w in ways if w is not None)))
        self.norms.append(norms)

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.terms = []
        self.steps += 1

    def figures(self) -> dict[str, Any]:
        taken, self.values = self.values, {}
        return dict(taken)

    def facts(self) -> dict[str, Any]:
        errors = {key: error.told() for key, error in self.regressions.all.items() if error.power}
        terms = [s | {"error": errors.get(s["error"])} for s in self.sites]
        return {"terms": terms, "term_norms": self.norms, "several_losses": self.several}


def _parameters(term: torch.Tensor) -> dict[int, torch.Tensor]:
    """The leaves that a term's gradient reaches."""
    found: dict[int, torch.Tensor] = {}
    stack, known = [term.grad_fn], set()
    while stack:
        node = stack.pop()
        if node is None or node in known:
            continue
        known.add(node)
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        stack += [n for n, _ in node.next_functions]
    return found
