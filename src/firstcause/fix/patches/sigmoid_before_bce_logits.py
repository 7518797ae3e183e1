"""A loss of logits is given the output of a sigmoid: the sigmoid goes.

Facts:

- ``file``, ``line``, ``column``: where the sigmoid is applied; ``module`` the class of its module, or None.
- ``class_name``: the class of the program's module on whose line it is applied, or None.
- ``loss``: the function that is given its output.
"""

from __future__ import annotations

from firstcause.fix.activations import applied, patch_of_activation
from firstcause.fix.operations import Facts, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "sigmoid-before-bce-logits"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that applies the sigmoid, or makes the layer that does."""
    found = applied(facts, project, "sigmoid", "Sigmoid")
    return found[0].site(found[1]) if found is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Without the sigmoid; None where several could be meant."""
    return patch_of_activation(CAUSE, facts, project, root, "sigmoid", "Sigmoid")
