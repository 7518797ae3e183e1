"""A loss summed over its batch: the mean in its place. A best value of the wrong axis: the other. Errors averaged first: not.

Facts:

- ``file``, ``line``, ``column``: where the sum is taken; ``loss`` is ``sum`` or the name of the loss's function.
- ``count``: how many values it is taken over.
- ``extreme``: instead of both, the function that is taken along axis 0 and belongs along axis 1.
- ``averages``: instead of all these, the average of errors that is taken before their size.
- ``weights``: instead of all these, True where weights of samples multiply their mean; nothing is patched then.
- ``values``: instead of all these, over how many values of a sample a mean is taken that belongs beside a sum; ``function`` is
  ``mean`` or a loss's, ``axes`` whether the mean is given any.
"""

from __future__ import annotations

import ast

from firstcause.fix import by_sample
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import atom, replaced
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
    if "averages" in facts:
        return draft(
            project,
            root,
            CAUSE,
            [edit],
            f"Leave out the {facts['averages']} at {site}, before the size of the errors: the mean behind it averages all.",
            f"{site}: errors of opposite sign no longer cancel, and the loss becomes larger.",
            "Weights of other terms, and logged losses, that were read with the average first.",
        )
    if "values" in facts:
        of = "batch" if facts.get("of_batch") else "sample"
        return draft(
            project,
            root,
            CAUSE,
            [edit],
            f"Take the sum over the {facts['values']} values of a {of} at {site}: the divergence beside it is one.",
            f"{site}: what is rebuilt counts {facts['values']} times as much, and the loss becomes another number.",
            "A learning rate that was chosen for the small loss.",
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
    if module is not None and "averages" in facts:
        return _without(module, str(facts["averages"]), module.nodes_on(int(facts["line"])))
    if module is not None and "values" in facts:
        found = by_sample.summed(facts, project, module)
        return (module, *found) if found is not None else None
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


def _without(module: Module, function: str, on_line: list[ast.AST]) -> Change | None:
    """What the one average of errors on a line is taken of, in its place; a mean has to follow it in the same function.

    A sum behind it would add up what was averaged until now.
    """
    named = [n for n in on_line if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    calls = [n for n in named if last_name(n.func) == function and _axis(n)]
    if len(calls) != 1:
        return None
    (call,) = calls
    others = [c for c in module.nodes(ast.Call) if c is not call]
    around = [c for c in others if module.function(c) is module.function(call) and c.lineno >= call.lineno]
    if not any(last_name(c.func) == "mean" and not _axis(c) for c in around):
        return None
    assert isinstance(call.func, ast.Attribute)
    of = call.func.value
    if isinstance(of, ast.Name) and of.id == "torch":
        return (module, call, replaced(module, call, module.segment(call.args[0]))) if call.args else None
    return module, call, replaced(module, call, atom(module, of))


def _axis(call: ast.Call) -> bool:
    """Whether a reduction is given axes."""
    return bool(call.args) or any(k.arg in ("dim", "axis") for k in call.keywords)


def _says_sum(keyword: ast.keyword) -> bool:
    return (
        keyword.arg == "reduction"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "sum"
    )
