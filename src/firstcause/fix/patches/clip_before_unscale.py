"""Gradients clipped while scaled: ``scaler.unscale_(optimizer)`` before the clip.

Facts:

- ``file``, ``line``: the line that clips.
"""

from __future__ import annotations

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.scopes import method_calls, receiver, statement_at
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "clip-before-unscale"


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the clip."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``unscale_`` with the scaler and optimizer of the one ``scaler.step(optimizer)`` around."""
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    if module is None or statement is None:
        return None
    scalers = {receiver(module, c) for c in method_calls(module, statement, "scale")}
    steps = [c for c in method_calls(module, statement, "step") if c.args and receiver(module, c) in scalers]
    cleared = {receiver(module, c) for c in method_calls(module, statement, "zero_grad")}
    if len(steps) == 1:
        scaler, optimizer = receiver(module, steps[0]), module.segment(steps[0].args[0])
    elif not steps and len(scalers) == len(cleared) == 1:
        # A helper that clears, scales and clips, and leaves the step to its caller.
        scaler, optimizer = scalers.pop(), cleared.pop()
    else:
        return None
    edit = inserted_line_before(module, statement, f"{scaler}.unscale_({optimizer})")
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        [edit] if edit is not None else [],
        f"Unscale the gradients before they are clipped at {site}: `{scaler}.unscale_({optimizer})` divides them by the "
        f"loss scale, and `{scaler}.step` does not divide them again.",
        f"{site}: the limit then holds for the true gradients, so that updates are as large as the limit was meant to allow.",
        "The limit and the learning rate stay as they are; they may have been tuned against updates that were nearly 0.",
    )
