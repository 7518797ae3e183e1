"""Gradients that explode: clipped by their norm just before the optimizer's step.

Facts:

- ``file``, ``line``: the line at which the optimizer steps.
"""

from __future__ import annotations

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.scopes import imports_torch, method_calls, receiver, statement_at
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "exploding-gradient"


def line(facts: Facts, project: Project) -> Site | None:
    """The step before which the gradients should have been clipped."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A clip of all gradients of the stepping optimizer, in terms of the optimizer itself."""
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    if module is None or statement is None or not imports_torch(module):
        return None
    steps = [c for c in method_calls(module, statement, "step") if module.statement(c) is statement]
    # A scaler's step divides the gradients inside: they cannot be clipped here without unscaling them first.
    if len(steps) != 1 or steps[0].args or method_calls(module, statement, "scale"):
        return None
    optimizer = receiver(module, steps[0])
    call = f'torch.nn.utils.clip_grad_norm_([p for g in {optimizer}.param_groups for p in g["params"]], 1.0)'
    edit = inserted_line_before(module, statement, call)
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        [edit] if edit is not None else [],
        f"Clip the gradients at norm 1 before {site}: with that alone the same training held.",
        f"{site}: a step whose gradients have a norm above 1 is shortened to it; the direction stays.",
        "Why the gradients grow through depth or time: gates, normalisation or shorter sequences would change that.",
    )
