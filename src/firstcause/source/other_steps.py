"""A step of another optimizer than the one that was cleared for it."""

from __future__ import annotations

import ast

from firstcause.source.module import Module
from firstcause.source.project import Project


def step_of_another(project: Project) -> tuple[Module, ast.expr, str] | None:
    """The optimizer that steps, and does so elsewhere too, where one that never does was cleared before: and that one's name."""
    for module in project.modules:
        steps = _calls(module, "step")
        # ``scaler.step(optimizer)`` steps what it is given.
        named = [module.segment(c.args[0] if c.args else c.func.value) for c in steps]  # type: ignore[attr-defined]
        called = {module.segment(c.func) for c in module.nodes(ast.Call)}
        for clear in _calls(module, "zero_grad"):
            own = module.segment(clear.func.value) if isinstance(clear.func, ast.Attribute) else ""
            # A module clears its gradients too, and takes no step.
            if not own or own in named or own in called or f"{own}.parameters" in called:
                continue
            scope = module.function(clear)
            later = [c for c in steps if module.function(c) is scope and c.lineno > clear.lineno]
            backs = [c.lineno for c in _calls(module, "backward") if c.lineno > clear.lineno]
            first = min(later, key=lambda c: c.lineno, default=None)
            if first is None or not backs or first.lineno < backs[0]:
                continue
            other = _stepped(module, first)
            if other is None:
                continue
            name = module.segment(other)
            if named.count(name) > 1 and "sched" not in name.lower():
                return module, other, own
    return None


def _stepped(module: Module, call: ast.Call) -> ast.expr | None:
    """What a call steps: its object, or what a scaler is given; None where it is given anything else."""
    assert isinstance(call.func, ast.Attribute)
    if not call.args:
        return call.func.value
    by_scaler = "scaler" in module.segment(call.func.value).lower() and len(call.args) == 1
    return call.args[0] if by_scaler else None


def _calls(module: Module, method: str) -> list[ast.Call]:
    """The calls ``x.method()`` of a file, in the order of the text."""
    found = [c for c in module.nodes(ast.Call) if isinstance(c.func, ast.Attribute) and c.func.attr == method]
    return sorted(found, key=lambda c: (c.lineno, c.col_offset))
