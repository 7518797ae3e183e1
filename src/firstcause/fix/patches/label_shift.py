"""Targets at another distance than the next token: the slices that shift once too often go, or the missing ones come.

Facts:

- ``file``, ``line``: the slice of the targets, or the loss.
- ``distance``: how far the targets lie from the last token seen; 1 would be the next one.
- ``loss``: the place of the loss; ``target_dims`` the axes of its targets.
- ``sliced``: the places of the slices between the batch and the loss, with ``start`` and ``stop``.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import called, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "label-shift"
FLATTENING = ("reshape", "view", "flatten", "transpose", "permute", "contiguous")


def line(facts: Facts, project: Project) -> Site | None:
    """The slice that shifts too far, or the loss that compares without a shift."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """One shift in all; None where the code does not show where the others are."""
    module = module_of(facts, project)
    if module is None or "distance" not in facts:
        return None
    distance = int(facts["distance"])
    edits = _without_slices(facts, project) if distance == 2 else None
    edits = edits or (_shorter_slices(facts, module) if distance >= 2 else None)
    edits = edits or (_shifted_loss(facts, project) if distance == 0 else None)
    if not edits:
        return None
    site = line(facts, project)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Compare each row of logits with the next token at {site}: now its targets lie {distance} places after the last "
        "one seen.",
        f"{site}: targets are the next tokens from there on; the loss is that of another task and not comparable with before.",
        "Padding among the targets, and weights that were trained on the other task.",
    )


def _slices(project: Project, place: Facts) -> list[tuple[Module, ast.Subscript]]:
    module = module_of(place, project)
    nodes = module.nodes_on(int(place["line"])) if module is not None else []
    return [(module, n) for n in nodes if isinstance(n, ast.Subscript) and module is not None]


def _without_slices(facts: Facts, project: Project) -> list[Edit] | None:
    """The slice ``[:, 1:]`` of the targets and ``[:, :-1]`` of the logits taken away."""
    wanted = {(1, None): False, (None, -1): False}
    edits: list[Edit] = []
    for place in facts["sliced"]:
        key = (place["start"], place["stop"])
        if key not in wanted or wanted[key]:
            continue
        bounds = [(m, s) for m, s in _slices(project, place) if _bounds(s) == key]
        if len(bounds) != 1:
            return None
        wanted[key] = True
        edits.append(replaced(bounds[0][0], bounds[0][1], bounds[0][0].segment(bounds[0][1].value)))
    return edits if all(wanted.values()) else None


def _shorter_slices(facts: Facts, module: Module) -> list[Edit] | None:
    """Slices on the line that begin ``distance`` places on, or end as many earlier: by one place instead."""
    distance = int(facts["distance"])
    edits = []
    for node in module.nodes_on(int(facts["line"])):
        cuts = [p for p in _parts(node) if isinstance(p, ast.Slice)]
        for cut in cuts if isinstance(node, ast.Subscript) else ():
            bounds = [b for b in (cut.lower, cut.upper) if b is not None]
            shifts = [s for b in bounds for s in _shifts(b, distance)]
            edits += [replaced(module, s, "1" if _number(s) == distance else "-1") for s in shifts]
    return edits or None


def _parts(node: ast.AST) -> list[ast.expr]:
    if not isinstance(node, ast.Subscript):
        return []
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _shifts(bound: ast.expr, distance: int) -> list[ast.expr]:
    """``2`` in ``2``, ``i + 2`` and ``i + n + 2``; ``-2`` alone."""
    if abs(_number(bound) or 0) == distance:
        return [bound]
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Add) and _number(bound.right) == distance:
        return [bound.right]
    return []


def _shifted_loss(facts: Facts, project: Project) -> list[Edit] | None:
    """``logits[:, :-1]`` and ``targets[:, 1:]`` where the loss is called."""
    for place in facts["sliced"]:
        both = [(m, s) for m, s in _slices(project, place) if _bounds(s) == (1, None)]
        if place["start"] == 1 and len(both) == 1:
            module, found = both[0]
            return [replaced(module, found, f"{module.segment(found.value)}[:, :-1]")]
    module_found = module_of(facts["loss"], project)
    if module_found is None or facts["sliced"]:
        return None
    calls = [
        n
        for n in module_found.nodes_on(int(facts["loss"]["line"]))
        if isinstance(n, ast.Call)
        and len(n.args) == 2
        and not isinstance(n.func, ast.Name | ast.Lambda)
        and (n.func.attr if isinstance(n.func, ast.Attribute) else "") not in FLATTENING
    ] or [
        n
        for n in module_found.nodes_on(int(facts["loss"]["line"]))
        if isinstance(n, ast.Call) and len(n.args) == 2
    ]
    if not calls:
        return None
    logits, target = calls[0].args
    inner = _receiver(logits)
    if inner is None:
        return None
    own = _receiver(target) or (target if facts["target_dims"] == 2 else None)
    if own is None:
        return None
    edits = [*called(module_found, inner, "[:, :-1]"), *called(module_found, own, "[:, 1:]")]
    return [*edits, *_reshaped(module_found, logits), *_reshaped(module_found, target)]


def _receiver(node: ast.expr) -> ast.expr | None:
    """``x`` in ``x.reshape(...)`` and the like; None where nothing is flattened."""
    found = None
    while (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FLATTENING
    ):
        node = found = node.func.value
    return found


def _reshaped(module: Module, node: ast.expr) -> list[Edit]:
    """``view`` becomes ``reshape``: a slice is not contiguous."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "view":
        inner = module.segment(node.func)[: -len("view")]
        start = module.span(node.func)[0] + len(inner)
        return [Edit(module.path, module.position(start), module.position(start + 4), "reshape")]
    return []


def _bounds(node: ast.Subscript) -> tuple[int | None, int | None]:
    cuts = [(_number(p.lower), _number(p.upper)) for p in _parts(node) if isinstance(p, ast.Slice)]
    return next((c for c in reversed(cuts) if c != (None, None)), (None, None))


def _number(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return -inner if inner is not None else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
