"""The loss is cut off from the parameters: the cut is taken out where it is one call.

Facts:

- ``file``, ``line``: the line of the op that ends the graph; ``column``, ``end_column`` optional.
- ``op``: its name; ``grad``: whether gradient mode was on there.
- ``switch``: where gradient mode was switched off for it, if it was.
"""

from __future__ import annotations

import ast

from firstcause.fix import gradient_switches as switches
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "detached-encoder"
# What needs the detach before it: the cut is wider than the call.
LEAVING = frozenset({"numpy", "item", "tolist", "cpu"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line that cuts: the call that detaches, or the switch of gradient mode around it."""
    if not facts.get("grad", True) and facts.get("switch"):
        found = switches.of_place(project, facts["switch"])
        if found is not None:
            return found[0].site(found[1])
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Take out the one ``.detach()``, or the lists between ``.tolist()`` and ``torch.tensor``; None for every other cut."""
    module = module_of(facts, project)
    if module is not None and facts.get("op") in ("tolist", "numpy", "item") and facts.get("grad", True):
        return _stacked(module, facts, project, root)
    if module is None or facts.get("op") != "detach" or not facts.get("grad", True):
        return None
    calls = [
        n
        for n in module.nodes_on(int(facts["line"]))
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr == "detach"
        and not n.args
    ]
    parents = [module.parents.get(c) for c in calls]
    followed = parents[0].attr if parents and isinstance(parents[0], ast.Attribute) else ""
    if len(calls) != 1 or followed in LEAVING:
        return None
    (call,) = calls
    assert isinstance(call.func, ast.Attribute)
    kept = module.segment(call.func.value)
    site = module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, kept)],
        f"Take `.detach()` off `{kept}` at {site}: it is the loss's only path to the parameters.",
        f"{site}: gradients flow through `{kept}`, and the parameters behind it are trained.",
        "Whether a part was meant to stay frozen: then give the loss another path, and freeze by requires_grad_(False).",
    )


def _stacked(module: Module, facts: Facts, project: Project, root: str) -> Fix | None:
    """Values that are taken out of tensors into a list, and the one ``torch.tensor`` of that list: the tensors, stacked."""
    calls = [
        n
        for n in module.nodes_on(int(facts["line"]))
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr == facts["op"]
        and not n.args
    ]
    if len(calls) != 1:
        return None
    (call,) = calls
    name, function = _list_of(module, call), module.function(call)
    made = [
        c
        for c in module.inside(function or module.tree, ast.Call)
        if module.segment(c.func) in ("torch.tensor", "torch.as_tensor")
        and len(c.args) == 1
        and not c.keywords
        and (call in ast.walk(c) or (name is not None and module.segment(c.args[0]) == name))
    ]
    if len(made) != 1 or not isinstance(call.func, ast.Attribute):
        return None
    kept = call.func.value
    while (
        isinstance(kept, ast.Call)
        and isinstance(kept.func, ast.Attribute)
        and kept.func.attr in ("detach", "cpu")
    ):
        kept = kept.func.value
    site = module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, module.segment(kept)), replaced(module, made[0].func, "torch.stack")],
        f"Keep the tensors `{module.segment(kept)}` at {site} and stack them: numbers in a list have no way back.",
        f"{site}: gradients flow through what is stacked, and the parameters behind it are trained.",
        "Whether a part was meant to stay frozen: then freeze by requires_grad_(False).",
    )


def _list_of(module: Module, call: ast.Call) -> str | None:
    """The list that a value is appended to, or that a comprehension of it is given to."""
    for above in module.ancestors(call):
        if (
            isinstance(above, ast.Call)
            and isinstance(above.func, ast.Attribute)
            and above.func.attr == "append"
        ):
            return module.segment(above.func.value)
        if isinstance(above, ast.Assign) and isinstance(above.value, ast.ListComp):
            return module.segment(above.targets[0])
    return None
