"""A convolution built for another number of channels: the axes of the images, or the number where it is written.

Facts:

- ``class_name``, ``attribute_path``: a class of the project and the layer's path beneath its objects.
- ``in_channels``, ``out_channels``, ``actual_channels``; ``kind``: the layer's class.
- ``channels_last``, ``no_channel_axis``: True where the call passes with the axes so; ``input_shape``.
- ``birth``: where the channels of the input came from: ``call`` (``at``), ``state`` or ``data`` (``at``, ``name``).
- ``joined``: the input was made by a cat; ``caller``: file and line of the call of the function that raised.
- ``later_step``: steps before had passed; ``weighted``: a layer stands before this one.
- ``file``, ``line``: the user's line that raised.
"""

from __future__ import annotations

import ast

from firstcause.fix.arrivals import common, conversion, ways
from firstcause.fix.counts import count_of, raised, set_to
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import called
from firstcause.fix.submodules import argument_of, constructions
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Origin, Project
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.values import number
from firstcause.source.walk import Hop

CAUSE = "conv-channel-mismatch"


def line(facts: Facts, project: Project) -> Site | None:
    """Where the images become tensors with the channels last; else where the layer's in_channels is written."""
    if facts.get("channels_last") and len(facts["input_shape"]) == 3:
        # A series has its features last by custom; it is turned where the convolution takes it.
        return named_line(facts, project)
    if facts.get("channels_last") or facts.get("no_channel_axis") or _is_data(facts):
        made = _converted(facts, project) or _prepared(facts, project)
        if made is not None:
            return made.site
        return named_line(facts, project)
    origin = _origin(facts, project)
    if origin is not None and _is_sum(origin) and facts.get("joined") and facts.get("caller"):
        # Built for the sum of two widths by name: what was handed in to be joined is another tensor than meant.
        caller = facts["caller"]
        return named_line(caller, project)
    if origin is not None:
        return origin.site
    found = _constructions(facts, project)
    return found[0].site if found else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Move the channels to the front, or write the number that arrives; None where the code shows neither."""
    if facts.get("channels_last"):
        series = len(facts["input_shape"]) == 3
        return _transposed(facts, project, root) if series else _permuted(facts, project, root)
    if facts.get("no_channel_axis") or _is_data(facts):
        return None
    if "in_channels" not in facts or "actual_channels" not in facts:
        return None
    origin, old, new = _origin(facts, project), int(facts["in_channels"]), int(facts["actual_channels"])
    edits = _edits(project, origin, old, new) if origin is not None else []
    if origin is None or not edits:
        return None
    name = facts.get("attribute_path") or "the convolution"
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Build `{name}` for the {new} channels that arrive instead of {old}.",
        f"{origin.site}: in_channels of `{name}` is {new} instead of {old}; its weight has another shape.",
        f"Inputs of {old} channels, and checkpoints from before: they do not fit the new layer.",
    )


def _is_sum(origin: Origin) -> bool:
    """Whether a number of channels is the sum of two that have names."""
    node = origin.node
    named = (ast.Name, ast.Attribute)
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and isinstance(node.left, named)
        and isinstance(node.right, named)
    )


def _is_data(facts: Facts) -> bool:
    """Whether the layer took what came before, so that this batch is the one that differs."""
    return bool(facts.get("later_step")) and not facts.get("weighted")


def _converted(facts: Facts, project: Project) -> Hop | None:
    """The conversion to a tensor that all ways of the images pass."""
    birth = facts.get("birth") or {}
    at = birth.get("at") or {}
    if birth.get("kind") == "call":
        module = module_of(at, project)
        nodes = [n for n in module.nodes_on(int(at["line"])) if isinstance(n, ast.Call)] if module else []
        return next((h for n in nodes if module and (h := conversion(project, (Hop(module, n),)))), None)
    found = [conversion(project, way) for way in ways(project, at, str(birth.get("name") or ""))]
    places = {id(hop.node): hop for hop in found if hop is not None}
    return next(iter(places.values())) if len(places) == 1 and None not in found else None


def _prepared(facts: Facts, project: Project) -> Hop | None:
    birth = facts.get("birth") or {}
    shared = common(ways(project, birth.get("at") or {}, str(birth.get("name") or "")))
    return shared[-1] if shared else None


def _permuted(facts: Facts, project: Project, root: str) -> Fix | None:
    made = _converted(facts, project)
    if made is None or not isinstance(made.node, ast.expr):
        return None
    rank = len(facts["input_shape"])
    parent = made.module.parents.get(made.node)
    # One image of a list that is stacked, or what a dataset gives for one index, has no batch axis yet.
    is_sample = isinstance(
        parent, (ast.ListComp, ast.GeneratorExp)
    ) or "getitem" in made.module.qualified_name(made.node)
    axes = [0, rank - 1, *range(1, rank - 1)]
    order = ", ".join(str(a - 1) for a in axes[1:]) if is_sample else ", ".join(map(str, axes))
    method, site = f".permute({order})", made.site
    return draft(
        project,
        root,
        CAUSE,
        called(made.module, made.node, method),
        f"Bring the channels to the front at {site}: the images come with the channels last, {facts['input_shape']}.",
        f"{site}: the tensor gets `{method}`, channels before height and width.",
        "Other readers of the same images that expect the channels last, such as plots.",
    )


def _transposed(facts: Facts, project: Project, root: str) -> Fix | None:
    """The one argument of the layer's own call, turned there."""
    module, name = module_of(facts, project), str(facts.get("attribute_path") or "").partition(".")[0]
    nodes = module.nodes_on(int(facts["line"])) if module is not None else []
    calls = [
        n
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == name
    ]
    if module is None or len(calls) != 1 or len(calls[0].args) != 1:
        return None
    given, site = calls[0].args[0], module.site(calls[0])
    return draft(
        project,
        root,
        CAUSE,
        called(module, given, ".transpose(1, 2)"),
        f"Turn the series for `self.{name}` at {site}: its features come last, {facts['input_shape']}.",
        f"{site}: `{module.segment(given)}` gets `.transpose(1, 2)`; what `{name}` gives has its channels before the time.",
        "Layers after it that expect the features last: they need the way back.",
    )


def _constructions(facts: Facts, project: Project) -> list[Construction]:
    seen = {("in_channels", 0): facts.get("in_channels"), ("out_channels", 1): facts.get("out_channels")}
    found = constructions(facts, project, str(facts.get("kind") or "Conv2d"), seen)
    return found or constructions(facts, project, str(facts.get("kind") or "Conv2d"), {})


def _origin(facts: Facts, project: Project) -> Origin | None:
    """The expression that gives in_channels, told from others of the same loop by the number that it has."""
    value = argument_of(_constructions(facts, project), "in_channels", 0)
    if value is None:
        return None
    origins = [o for o in value_origins(project, value) if o.kind != "unknown"]
    numbers = [number(project, o.value) if o.value is not None else None for o in origins]
    fitting = [o for o, n in zip(origins, numbers, strict=True) if n == facts.get("in_channels")]
    found = fitting or (origins if all(n is None for n in numbers) else [])
    return found[0] if len(found) == 1 else None


def _edits(project: Project, origin: Origin, old: int, new: int) -> list[Edit]:
    if origin.value is None or not origin.exact or number(project, origin.value) != old:
        return []
    value: Value = origin.value
    count = count_of(project, value)
    if count is None:
        return []
    return set_to(count, old, new) or (raised(count, new - old) if new > old else [])
