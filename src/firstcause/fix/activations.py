"""The call that applies an activation, or makes its layer, and the change that takes it away."""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.rewrite import atom, replaced
from firstcause.schema import Fix
from firstcause.source import Module, Project
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

Found = tuple[Module, ast.Call, ast.expr | None]


def applied(facts: Facts, project: Project, function: str, layer: str) -> Found | None:
    """The call to change and its operand; no operand where the call makes the layer. None where several pass."""
    module = module_of(facts, project)
    if module is None or "activation" not in facts:
        return None
    on_line = [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call)]
    used = [
        (module, c, o) for c in on_line if (o := _operand(project, module, c, function, layer)) is not None
    ]
    if used:
        return used[0] if len(used) == 1 else None
    made: list[Found] = [
        (m, c, None) for m in project.modules for c in m.nodes(ast.Call) if _makes(project, m, c, layer)
    ]
    own = [
        f for f in made if (c := f[0].method_class(f[1])) is not None and c.name == facts.get("class_name")
    ]
    for among in (own, made):
        if among:
            return among[0] if len(among) == 1 else None
    return None


def _operand(project: Project, module: Module, call: ast.Call, function: str, layer: str) -> ast.expr | None:
    name = library_name(new_walk(project), Value(module, call))
    if name.startswith("torch.") and name.rpartition(".")[2] == function:
        return call.args[0] if call.args else None
    if isinstance(call.func, ast.Attribute) and not call.args[1:] and name == f".{function}":
        return call.func.value
    if len(call.args) != 1 or call.keywords:
        return None
    origins = new_walk(project, spread=True).callables(Value(module, call.func))
    makers = [o for o in origins if isinstance(o.node, ast.Call)]
    is_layer = makers and all(_makes(project, o.module, o.node, layer) for o in makers)
    return call.args[0] if is_layer else None


def _makes(project: Project, module: Module, call: ast.AST, layer: str) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = library_name(new_walk(project), Value(module, call))
    return name.startswith("torch.nn.") and name.rpartition(".")[2] == layer


def patch_of_activation(
    cause: str, facts: Facts, project: Project, root: str, function: str, layer: str
) -> Fix | None:
    """Take the activation away: its operand in its place, or a layer that changes nothing."""
    found = applied(facts, project, function, layer)
    if found is None:
        return None
    module, call, operand = found
    site, text = module.site(call), module.segment(call)
    instead = atom(module, operand) if operand is not None else _identity(module, call)
    return draft(
        project,
        root,
        cause,
        [replaced(module, call, instead)],
        f"Give {facts.get('loss', 'the loss')} logits: at {site}, `{text}` becomes `{instead}`, since the loss applies "
        f"{function} itself.",
        f"{site}: what was a probability is a logit from there on; the loss and its gradients are no longer squeezed.",
        f"Readers of the same output that want probabilities have to apply {function} themselves; a threshold of 0.5 "
        "becomes 0.",
    )


def _identity(module: Module, call: ast.Call) -> str:
    """``nn.Identity()``, written as the layer is; places in a Sequential and names in a checkpoint stay."""
    written = module.segment(call.func)
    before, dot, _ = written.rpartition(".")
    return f"{before}{dot}Identity()" if dot else "torch.nn.Identity()"
