"""What bfloat16 rounds away: an epsilon, its line or that of the op that meets 0 for it; or the updates of the weights.

An epsilon that bfloat16 can hold beside 1 is 1e-2, which changes the model; the cure is float32 for these ops, and
nothing is patched. Weights whose updates are lost are kept in float32 where one place says that they are not.

Facts: ``updates``: true where the updates are lost; ``file``, ``line``, ``column``, ``end_column``, ``end_line``:
the op, as for log-of-zero.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.epsilons import vanished
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.frames import Value

CAUSE = "bf16-rounding"


def line(facts: Facts, project: Project) -> Site | None:
    """The one constant on the way to the op that rounds away, else the op's line."""
    module = module_of(facts, project)
    if module is None:
        return None
    if facts.get("updates"):
        places = _narrowed(project)
        return places[0][0].site(places[0][1]) if len(places) == 1 else named_line(facts, project)
    nodes = [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, (ast.Call, ast.BinOp))]
    found = {
        id(lost.literal.node): lost for n in nodes for lost in vanished(project, Value(module, n), "bfloat16")
    }
    if len(found) == 1:
        return next(iter(found.values())).literal.site
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The weights in float32; nothing for an epsilon, since where float32 begins is a choice."""
    places = _narrowed(project)
    if not facts.get("updates") or len(places) != 1:
        return None
    module, node = places[0]
    wide = "float()" if isinstance(node, ast.Call) else "torch.float32"
    old = module.segment(node)
    new = f"{module.segment(node.func.value)}.{wide}" if isinstance(node, ast.Call) else wide  # type: ignore[attr-defined]
    site = module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, node, new)],
        f"Keep the weights in float32: `{old}` at {site} becomes `{new}`, so that updates below 0.4 % of a weight are "
        "not rounded away.",
        f"{site}: weights, gradients and optimizer state take twice the memory, and the forward pass runs in float32.",
        "The speed of bfloat16: torch.autocast around the forward pass gives it back and leaves the weights in float32.",
    )


def _narrowed(project: Project) -> list[tuple[Module, ast.expr]]:
    """Where the program asks for bfloat16: ``torch.bfloat16`` and ``.bfloat16()``, autocast's own left out."""
    found: list[tuple[Module, ast.expr]] = []
    for module in project.modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == "bfloat16":
                parent = module.parents.get(node)
                called = isinstance(parent, ast.Call) and parent.func is node
                around = [p for p in module.ancestors(node) if isinstance(p, ast.Call)]
                if not any("autocast" in module.segment(p.func) for p in around):
                    found.append((module, parent if called and isinstance(parent, ast.Call) else node))
    return found
