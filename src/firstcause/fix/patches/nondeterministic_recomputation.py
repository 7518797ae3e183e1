"""A checkpointed block draws from a generator that checkpoint does not restore: it draws from torch's instead.

Facts:

- ``file``, ``line``: the line that draws, or where the forward and its recomputation part.
- ``kind``, ``generator``: ``generator`` and its name (python, numpy, torch or a path), or ``attribute``.
- ``class``, ``attribute``: the attribute that differed, where it was one.
- ``region``: the place of the call of checkpoint.
"""

from __future__ import annotations

import ast

from firstcause.fix.bindings import attribute_binding
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import imports_torch
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "nondeterministic-recomputation"
# A number between 0 and 1, from generators that checkpoint leaves alone.
DRAWS = {
    "python": ("random.random()", "random()"),
    "numpy": ("np.random.rand()", "np.random.random()", "numpy.random.rand()"),
}


def line(facts: Facts, project: Project) -> Site | None:
    """The line that draws or that changes the attribute; where it is not known, the line at which the two ways part."""
    if facts.get("kind") == "generator" and facts.get("generator") == "torch":
        region = facts.get("region") or {}
        return named_line(region, project)
    if facts.get("kind") == "attribute" and facts.get("attribute"):
        found = attribute_binding(project, str(facts.get("class")), str(facts["attribute"]))
        if found is not None:
            return found.module.site(found.statement)
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Draw the same kind of number from torch; None for other draws, and for what is no draw."""
    module = module_of(facts, project)
    if module is None or facts.get("kind") != "generator" or not imports_torch(module):
        return None
    wanted = DRAWS.get(str(facts.get("generator")), ())
    calls = [
        n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call) and ast.unparse(n) in wanted
    ]
    if len(calls) != 1:
        return None
    site = module.site(calls[0])
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, calls[0], "torch.rand(()).item()")],
        f"Draw at {site} from torch's generator, which checkpoint restores for the recomputation.",
        f"{site}: the sequence of draws is another one; torch.manual_seed decides it.",
        "Draws from other generators inside of checkpointed blocks.",
    )
