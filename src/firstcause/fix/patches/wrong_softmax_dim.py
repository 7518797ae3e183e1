"""A softmax, or a length, along another axis than the one that is added up afterwards: it gets that axis.

Facts:

- ``file``, ``line``, ``column``: where it is applied; ``function`` is ``softmax``, ``log_softmax``, ``normalize`` or ``norm``.
- ``axis``: the axis along which its output is added up, of ``dims``.
"""

from __future__ import annotations

import ast

from firstcause.fix.activations import applied
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.arguments import argument

CAUSE = "wrong-softmax-dim"
LAYERS = {"softmax": "Softmax", "log_softmax": "LogSoftmax"}
# Which argument of the function is the axis; that of a method comes one place earlier.
PLACES = {"softmax": 1, "log_softmax": 1, "normalize": 2, "norm": 2}
# A call, and the axis that it is given; None where it has a usual one.
Found = tuple[Module, ast.Call, ast.expr | None]


def line(facts: Facts, project: Project) -> Site | None:
    """The line that names the axis."""
    found = _axis(facts, project)
    return found[0].site(found[1]) if found is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The other axis; None where the code does not show where it is named."""
    found = _axis(facts, project)
    if found is None:
        return None
    module, call, node = found
    axis = int(facts["axis"]) - int(facts["dims"])
    site = module.site(call)
    if node is None:
        edit, text = added_keyword(module, call, f"dim={axis}"), "the usual one"
    else:
        text = module.segment(node)
        if not text.lstrip().startswith("-") and axis != -1:
            axis = int(facts["axis"])
        edit = replaced(module, node, str(axis))
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Take the {facts['function']} along axis {axis} instead of {text} at {site}: its output is added up along that axis.",
        f"{site}: what is added up is normalised; samples no longer compete with each other.",
        "Weights that were trained before, which are fitted to the other sums.",
    )


def _axis(facts: Facts, project: Project) -> Found | None:
    function, module = str(facts.get("function")), module_of(facts, project)
    if module is None or function not in PLACES or "dims" not in facts:
        return None
    on_line = (
        [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call)]
        if module is not None
        else []
    )
    for call in on_line:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name == function and module is not None:
            is_method = isinstance(call.func, ast.Attribute) and module.segment(call.func.value) not in (
                "F",
                "torch",
                "functional",
                "nn.functional",
                "torch.nn.functional",
            )
            given = argument(call, PLACES[function] - int(is_method), "dim")
            if given is None and function == "normalize":
                return module, call, None
            return (module, call, given.node) if given is not None and given.sure else None
    if function not in LAYERS:
        return None
    found = applied(facts, project, function, LAYERS[function])
    if found is None or found[2] is not None:
        return _of_layer(project, LAYERS[function])
    given = argument(found[1], 0, "dim")
    return (found[0], found[1], given.node) if given is not None and given.sure else None


def _of_layer(project: Project, layer: str) -> Found | None:
    """The axis of the one layer of that kind that the program makes."""
    made = [
        (m, c, g.node)
        for m in project.modules
        for c in m.nodes(ast.Call)
        if m.segment(c.func).rpartition(".")[2] == layer
        and (g := argument(c, 0, "dim")) is not None
        and g.sure
    ]
    return made[0] if len(made) == 1 else None
