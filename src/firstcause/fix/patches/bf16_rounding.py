"""What bfloat16 rounds away: an epsilon, its line or that of the op that meets 0 for it; or the updates of the weights.

An epsilon that bfloat16 can hold beside 1 is 1e-2, which changes the model; the cure is float32 for these ops, and
nothing is patched. Weights whose updates are lost are kept in float32 where one place says that they are not.

Facts:

- ``updates``: true where the updates are lost; ``average``: where they are those of an average.
- ``file``, ``line``, ``column``, ``end_column``, ``end_line``: the op, as for log-of-zero.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.epsilons import vanished
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.classes import external_bases
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.resolve import Defined, external, resolve

CAUSE = "bf16-rounding"
MOST_PLACES = 6
Place = tuple[Module, ast.expr]


def line(facts: Facts, project: Project) -> Site | None:
    """The one constant on the way to the op that rounds away, else the op's line."""
    module = module_of(facts, project)
    if module is None:
        return None
    if facts.get("updates"):
        place = _weights(project, _narrowed(project))
        return place[0].site(place[1]) if place is not None else named_line(facts, project)
    nodes = [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, (ast.Call, ast.BinOp))]
    found = {
        id(lost.literal.node): lost for n in nodes for lost in vanished(project, Value(module, n), "bfloat16")
    }
    if len(found) == 1:
        return next(iter(found.values())).literal.site
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The weights, or their average, in float32; nothing for an epsilon, since where float32 begins is a choice."""
    places = _narrowed(project)
    if facts.get("average"):
        places = _of_average(facts, project, places)
        kept = places[0] if places else None
        what, costs = "average", "the average takes twice the memory."
        leaves = "What was averaged before."
    else:
        kept = _weights(project, places) if facts.get("updates") else None
        what = "weights"
        costs = "weights, gradients and optimizer state take twice the memory, and the forward pass runs in float32."
        leaves = "The speed of bfloat16: torch.autocast around the forward pass gives it back and leaves the weights in float32."
    if kept is None or len(places) > MOST_PLACES:
        return None
    module, node = kept
    old, new, site = module.segment(node), _wide(module, node), module.site(node)
    more = f" and {len(places) - 1} more place(s) that name bfloat16" if len(places) > 1 else ""
    return draft(
        project,
        root,
        CAUSE,
        # What is fed to the weights has their type: one that stayed narrow would be refused.
        [replaced(m, n, _wide(m, n)) for m, n in places],
        f"Keep the {what} in float32: `{old}` at {site} becomes `{new}`{more}, so that updates below 0.4 % of a value are "
        "not rounded away.",
        f"{site}: {costs}",
        leaves,
    )


def _of_average(facts: Facts, project: Project, places: list[Place]) -> list[Place]:
    """Those in the class that keeps the average: elsewhere other things are narrow."""
    own = module_of(facts, project)
    nodes = own.nodes_on(int(facts["line"])) if own is not None else []
    owner = own.method_class(nodes[-1]) if own is not None and nodes else None
    return [(m, n) for m, n in places if m is own and owner is not None and m.method_class(n) is owner]


def _wide(module: Module, node: ast.expr) -> str:
    """The same in float32."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return f"{module.segment(node.func.value)}.float()"
    return "torch.float32"


def _weights(project: Project, places: list[Place]) -> Place | None:
    """The one place that narrows a model, where several are named; the only place in any case."""
    models = [(m, n) for m, n in places if _narrows_a_model(project, m, n)]
    chosen = models if len(places) > 1 else places
    return chosen[0] if len(chosen) == 1 else None


def _narrows_a_model(project: Project, module: Module, node: ast.expr) -> bool:
    """``model.bfloat16()`` and ``model.to(torch.bfloat16)``, where the model is built by a class of modules."""
    call = node if isinstance(node, ast.Call) else module.parents.get(node)
    call = module.parents.get(call) if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    built = [
        o for o in value_origins(project, Value(module, call.func.value)) if isinstance(o.node, ast.Call)
    ]
    return any(_builds_a_module(project, o.module, o.node) for o in built if isinstance(o.node, ast.Call))


def _builds_a_module(project: Project, module: Module, call: ast.Call) -> bool:
    found = resolve(project, module, call.func)
    if isinstance(found, Defined) and isinstance(found.node, ast.ClassDef):
        bases = external_bases(project, found.module, found.node)
        return any(b.endswith("Module") for b in bases)
    return external(found).startswith("torch.nn.") and not external(found).startswith("torch.nn.functional")


def _narrowed(project: Project) -> list[Place]:
    """Where the program asks for bfloat16: ``torch.bfloat16`` and ``.bfloat16()``, autocast's own left out."""
    found: list[Place] = []
    for module in project.modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == "bfloat16":
                parent = module.parents.get(node)
                called = isinstance(parent, ast.Call) and parent.func is node
                around = [p for p in module.ancestors(node) if isinstance(p, ast.Call)]
                if not any("autocast" in module.segment(p.func) for p in around):
                    found.append((module, parent if called and isinstance(parent, ast.Call) else node))
    return found
