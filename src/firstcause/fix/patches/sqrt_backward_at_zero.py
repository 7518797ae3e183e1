"""A root whose derivative is infinite at 0: its argument is kept above 0.

Facts:

- ``file``, ``line``: the user's line with the root (``sqrt``, ``** 0.5``, a power below 1).
- ``column``, ``end_column``, ``end_line`` or ``occurrence``: which one, as for log-of-zero; optional.
- ``dtype``: the type of the root's input.
"""

from __future__ import annotations

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, candidates, module_of, operation_line
from firstcause.fix.precision import NEAR_ZERO, type_name
from firstcause.fix.rewrite import called
from firstcause.fix.roots import root_operand
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "sqrt-backward-at-zero"


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the root; of a norm or another call that takes one inside, the line that the facts name."""
    return operation_line(facts, project, root_operand)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep the root's argument above 0; None for norms and other calls whose root is inside the library."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, root_operand) if module is not None else []
    if module is None or len(found) != 1:
        return None
    node, operand = found[0]
    bound = NEAR_ZERO[type_name(facts.get("dtype"))]
    site, text = module.site(node), module.segment(operand)
    return draft(
        project,
        root,
        CAUSE,
        called(module, operand, f".clamp_min({bound})"),
        f"Keep the argument of the root at {site} above 0: the derivative of `{module.segment(node)}` is infinite there.",
        f"{site}: `{text}` is followed by `.clamp_min({bound})`; elements at 0 get gradient 0 instead of 0 * inf, their "
        f"root is {float(bound) ** 0.5:g} instead of 0.",
        f"That `{text}` is exactly 0 for some elements (equal inputs, constant rows): they take no part in learning.",
    )
