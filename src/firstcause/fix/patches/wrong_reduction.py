"""A loss summed over its batch: the mean in its place. A best value of the wrong axis: the other axis.

Facts:

- ``file``, ``line``, ``column``: where the sum is taken; ``loss`` is ``sum`` or the name of the loss's function.
- ``count``: how many values it is taken over.
- ``extreme``: instead of both, the function that is taken along axis 0 and belongs along axis 1.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name

CAUSE = "wrong-reduction"
Change = tuple[Module, ast.AST, Edit]


def line(facts: Facts, project: Project) -> Site | None:
    """The line that says sum."""
    change = _change(facts, project)
    return change[0].site(change[1]) if change is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``mean`` for ``sum``; None where several could be meant."""
    change = _change(facts, project)
    if change is None:
        return None
    module, node, edit = change
    site = module.site(node)
    if "extreme" in facts:
        return draft(
            project,
            root,
            CAUSE,
            [edit],
            f"Take the {facts['extreme']} along axis 1 at {site}: the best of each sample, not of the batch.",
            f"{site}: every sample has its part in the loss, whose value becomes another one.",
            "Thresholds and logged losses that were read with the other axis.",
        )
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Take the mean in place of the sum at {site}: it is taken over {facts['count']} values.",
        f"{site}: the loss and its gradients become {facts['count']} times smaller, and no longer depend on the batch size.",
        "Weights of other terms, and logged losses, that were chosen for the sum.",
    )


def _change(facts: Facts, project: Project) -> Change | None:
    module = module_of(facts, project)
    if module is not None and "extreme" in facts:
        return _along(module, str(facts["extreme"]), module.nodes_on(int(facts["line"])))
    if module is None or "count" not in facts:
        return None
    on_line = module.nodes_on(int(facts["line"]))
    if facts["loss"] == "sum":
        sums = [n for n in on_line if isinstance(n, ast.Attribute) and n.attr == "sum"]
        if len(sums) != 1:
            return None
        start = module.span(sums[0])[1] - len("sum")
        return module, sums[0], Edit(module.path, module.position(start), module.position(start + 3), "mean")
    own = [k for n in on_line if isinstance(n, ast.Call) for k in n.keywords if _says_sum(k)]
    if len(own) == 1:
        return module, own[0].value, replaced(module, own[0].value, '"mean"')
    every = [(m, k) for m in project.modules for c in m.nodes(ast.Call) for k in c.keywords if _says_sum(k)]
    return (
        (every[0][0], every[0][1].value, replaced(every[0][0], every[0][1].value, '"mean"'))
        if len(every) == 1
        else None
    )


def _along(module: Module, function: str, on_line: list[ast.AST]) -> Change | None:
    """The one axis 0 that a call of this name is given on a line."""
    calls = [n for n in on_line if isinstance(n, ast.Call) and last_name(n.func) == function]
    given = [v for c in calls for v in (*c.args, *(k.value for k in c.keywords if k.arg == "dim"))]
    zeros = [v for v in given if isinstance(v, ast.Constant) and v.value == 0 and type(v.value) is int]
    return (module, zeros[0], replaced(module, zeros[0], "1")) if len(zeros) == 1 else None


def _says_sum(keyword: ast.keyword) -> bool:
    return (
        keyword.arg == "reduction"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "sum"
    )
