"""The start of a training from which it comes further: the line that makes it as it is, and the patch.

Facts:

- ``start``: what was changed alone: ``initial`` (weights), ``inputs`` (their scale), ``activation``.
- ``file``, ``line``: the layer; ``activation`` its function; ``relu`` whether the network has rectifiers.
- ``scale``: for inputs, ``mean`` and ``spread`` of the first batch, ``class_name`` of the model, and the call's place.
"""

from __future__ import annotations

import ast

from firstcause.fix import activation_calls, initial_values
from firstcause.fix.batches import batch_origins
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.constructs import classes_named
from firstcause.source.data import preparing_site

BELOW = "dead-relu-init"


def line(cause: str, facts: Facts, project: Project) -> Site | None:
    """The initial values, the preparation of the inputs, or the squashing function; else the layer's own line."""
    start = facts.get("start")
    if start == "initial":
        found = initial_values.chosen(project, cause == BELOW)
        if found is not None:
            return found.module.site(found.call)
    if start == "inputs":
        scale = {"file": facts.get("file"), "line": facts.get("line")} | dict(facts.get("scale") or {})
        site = preparing_site(batch_origins(scale | {"name": _argument(scale, project)}, project))
        return site or named_line(scale, project)
    if start == "activation":
        named = activation_calls.hidden(facts, project)
        if named:
            return named[0][0].site(named[0][1])
    return named_line(facts, project)


def patch(cause: str, facts: Facts, project: Project, root: str) -> Fix | None:
    """Initial values that fit, inputs at unit scale, or rectifiers; None where the code does not show what to change."""
    start = facts.get("start")
    edits: list[Edit] = []
    if start == "initial":
        edits = initial_values.fitting(project, bool(facts.get("relu")))
        told = "Begin with weights on a scale that fits the layers, and biases at 0"
    elif start == "inputs":
        edit = _scaling(facts.get("scale") or {}, project)
        edits = [edit] if edit is not None else []
        told = "Bring the inputs to zero mean and unit spread before the first layer"
    else:
        edits = activation_calls.with_relu(activation_calls.hidden(facts, project)) if start else []
        told = f"Use rectifiers in place of {facts.get('activation')} between the layers"
    site = line(cause, facts, project)
    if not edits or site is None:
        return None
    return draft(
        project,
        root,
        cause,
        edits,
        f"{told}: {site}.",
        "The function at the start, and every number of the training after it.",
        "Weights that were saved before: they belong to the other start.",
    )


def _argument(scale: Facts, project: Project) -> str:
    """The text of what the model is called on at a place."""
    module = module_of(scale, project)
    if module is None:
        return ""
    calls = [n for n in module.nodes_on(int(scale["line"])) if isinstance(n, ast.Call) and n.args]
    named = [c.args[0] for c in calls if isinstance(c.args[0], (ast.Name, ast.Subscript, ast.Attribute))]
    return module.segment(named[0]) if named else ""


def _scaling(scale: Facts, project: Project) -> Edit | None:
    found = classes_named(project, str(scale.get("class_name") or ""))
    if len(found) != 1 or not isinstance(found[0].node, ast.ClassDef):
        return None
    module, cls = found[0].module, found[0].node
    forward = next((f for f in cls.body if isinstance(f, ast.FunctionDef) and f.name == "forward"), None)
    if forward is None or len(forward.args.args) < 2:
        return None
    name = forward.args.args[1].arg
    body = [s for s in forward.body if not _is_docstring(s)]
    mean, spread = (_written(name, scale[k]) for k in ("mean", "spread"))
    return inserted_line_before(module, body[0], f"{name} = ({name} - {mean}) / {spread}") if body else None


def _written(name: str, values: list[float]) -> str:
    shown = [f"{v:.4g}" for v in values]
    return shown[0] if len(shown) == 1 else f"{name}.new_tensor([{', '.join(shown)}])"


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
