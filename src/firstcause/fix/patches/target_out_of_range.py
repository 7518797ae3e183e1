"""A class label outside 0..C-1: labels that start at 1 are shifted where they are made, a head too small is enlarged.

Facts:

- ``file``, ``line``: the user's line that calls the loss.
- ``n_classes``: C, the size of the logits' class axis.
- ``target_min``, ``target_max``: over the failing batch.
- ``targets_count``: the targets in the failing batch; a large batch without a single 0 has labels from 1. Optional.
- ``outside``: the values outside that the loss does not ignore, where it ignores one; optional.
- ``known_min``, ``known_max``: over all targets seen, where known; optional.
- ``class_name``, ``attribute_path``: of the Linear (or convolution) that makes the logits, where known; optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.counts import Count, by_option, count_of, raised, set_to
from firstcause.fix.draft import draft
from firstcause.fix.library_models import made_by, size_of
from firstcause.fix.losses import Loss, loss_of, marker_of, written_over
from firstcause.fix.operations import Facts, name_of
from firstcause.fix.rewrite import added_keyword, plus, replaced
from firstcause.fix.submodules import argument_of, constructions
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callees import library_name
from firstcause.source.data import data_origins_of, places, preparing_site
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.walk import Hop

CAUSE = "target-out-of-range"
# With this many labels a class, a batch that lacks class 0 by chance is one in fifty at most.
MANY_A_CLASS = 4
HEADS = {
    "Linear": "out_features",
    "LazyLinear": "out_features",
    "Conv2d": "out_channels",
    "Conv1d": "out_channels",
    "Conv3d": "out_channels",
}
# How libraries call the number of classes, in a configuration or when a model is made.
LABELS = ("num_labels", "num_classes", "id2label")
# Calls that give a tensor or an array of numbers, or one number: what 1 can be taken from.
ARRAYS = ("torch.", "numpy.")
NUMBERS = ("builtins.int",)


def line(facts: Facts, project: Project) -> Site | None:
    """The loss for labels that it should ignore, the head if it is too small, else where the labels were made."""
    loss = loss_of(facts, project)
    filled = written_over(project, loss, facts.get("outside")) if loss is not None else None
    if filled is not None:
        return filled[0].site(filled[1])
    if loss is not None and marker_of(facts, project, loss.target) is not None:
        return loss.settings.site(loss.call)
    if _is_head_too_small(facts):
        count = _classes(facts, project)
        if count is not None:
            return count.site
        made = _library_head(facts, project)
        if made is not None:
            return made[0].site(made[1])
    if loss is None:
        return None
    target = loss.target
    return preparing_site(data_origins_of(project, target)) or target.module.site(target.node)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Shift labels that start at 1, or make the head as large as the labels; None where neither is shown."""
    classes = facts.get("n_classes")
    if classes is None or facts.get("target_max") is None:
        return None
    loss = loss_of(facts, project)
    filled = written_over(project, loss, facts.get("outside")) if loss is not None else None
    if loss is not None and filled is not None:
        return _ignored(project, root, loss, *filled)
    marker = marker_of(facts, project, loss.target) if loss is not None else None
    if loss is not None and marker is not None:
        return _ignore(project, root, loss, marker, int(classes))
    if _starts_at_one(facts):
        return _shift(facts, project, root, int(classes))
    return _enlarge(facts, project, root, int(classes)) if _is_head_too_small(facts) else None


def _bounds(facts: Facts) -> tuple[int | None, int | None]:
    low = [int(facts[k]) for k in ("target_min", "known_min") if facts.get(k) is not None]
    high = [int(facts[k]) for k in ("target_max", "known_max") if facts.get(k) is not None]
    return min(low, default=None), max(high, default=None)


def _starts_at_one(facts: Facts) -> bool:
    """Whether the labels are 1..C: a small batch may lack the 0 by chance, a large one or all that were seen not."""
    count, classes = facts.get("targets_count"), facts.get("n_classes")
    is_large = bool(count and classes and count >= MANY_A_CLASS * classes)
    return (facts.get("known_min") is not None or is_large) and _may_start_at_one(facts)


def _may_start_at_one(facts: Facts) -> bool:
    low, high = _bounds(facts)
    return low == 1 and high == facts.get("n_classes")


def _is_head_too_small(facts: Facts) -> bool:
    low, high = _bounds(facts)
    classes = facts.get("n_classes")
    if classes is None or low is None or high is None or low < 0 or high < classes:
        return False
    return not _may_start_at_one(facts)


def _classes(facts: Facts, project: Project) -> Count | None:
    for kind, name in HEADS.items():
        found = constructions(facts, project, kind, {(name, 1): facts.get("n_classes")})
        value = argument_of(found, name, 1)
        if value is not None:
            return count_of(project, value, facts.get("n_classes"))
    return None if facts.get("class_name") else size_of(project, *LABELS, seen=facts.get("n_classes"))


def _library_head(facts: Facts, project: Project) -> tuple[Module, ast.Call] | None:
    """The call that makes a library's model with its own number of classes."""
    return None if facts.get("class_name") else made_by(project, *LABELS)


def _ignored(project: Project, root: str, loss: Loss, module: Module, fill: ast.Assign) -> Fix | None:
    """The label that the loss ignores, where another one is written over the labels."""
    given = next((k.value for k in loss.call.keywords if k.arg == "ignore_index"), None)
    own = isinstance(given, ast.Constant) or (isinstance(given, ast.Name) and module is loss.settings)
    if given is None or not own:
        return None
    site, text, was = module.site(fill), loss.settings.segment(given), module.segment(fill.value)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, fill.value, text)],
        f"Write {text}, the label that the loss ignores, at {site} instead of `{was}`.",
        f"{site}: these targets add nothing to the loss.",
        f"Metrics that count {text} as a class.",
    )


def _ignore(project: Project, root: str, loss: Loss, marker: int, classes: int) -> Fix | None:
    if any(keyword.arg == "ignore_index" for keyword in loss.call.keywords):
        return None
    site, text = loss.settings.site(loss.call), loss.settings.segment(loss.call.func)
    return draft(
        project,
        root,
        CAUSE,
        [added_keyword(loss.settings, loss.call, f"ignore_index={marker}")],
        f'Tell `{text}` at {site} to leave out the label {marker}, which stands for "not labelled".',
        f"{site}: targets of {marker} add nothing to the loss, and the mean is over the others.",
        f"Metrics that count {marker} as a class, and labels outside 0..{classes - 1} that are not {marker}.",
    )


def _enlarge(facts: Facts, project: Project, root: str, classes: int) -> Fix | None:
    high = _bounds(facts)[1]
    count = _classes(facts, project)
    if high is None:
        return None
    missing = high - classes + 1
    if count is None:
        return _told(facts, project, root, classes, missing)
    # One class more is shown by the label itself; how many there are in all only by the whole data.
    if missing > 1 and facts.get("known_max") is None:
        return None
    edits = set_to(count, classes, classes + missing) or (raised(count, missing) if missing == 1 else [])
    if not edits:
        return None
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Give {name_of(facts)} {classes + missing} outputs instead of {classes}: the labels go up to {high}."
        f"{by_option(project, count, classes + missing)}",
        f"{count.site}: `{count.text}` grows by {missing}; the logits have {classes + missing} classes.",
        f"Labels above {high}, which were not seen, and checkpoints of the head with {classes} classes, which do not load "
        "into the new one.",
    )


def _told(facts: Facts, project: Project, root: str, classes: int, missing: int) -> Fix | None:
    """A library's head keeps its default of two: say how many classes there are, where one more is needed."""
    made = _library_head(facts, project)
    if made is None or missing != 1:
        return None
    module, call = made
    name = "num_classes" if module.segment(call.func).endswith("create_model") else "num_labels"
    return draft(
        project,
        root,
        CAUSE,
        [added_keyword(module, call, f"{name}={classes + 1}")],
        f"Say at {module.site(call)} that there are {classes + 1} classes: without it the head has {classes}.",
        f"{module.site(call)}: the head has {classes + 1} outputs, and names of the classes that fit.",
        f"Labels above {classes}, which were not seen, and checkpoints of the head with {classes} classes, which do not load "
        "into the new one.",
    )


def _shift(facts: Facts, project: Project, root: str, classes: int) -> Fix | None:
    loss = loss_of(facts, project)
    place = _numeric_place(project, loss.target) if loss is not None else None
    if place is None or not isinstance(place.node, ast.expr):
        return None
    text = place.module.segment(place.node)
    return draft(
        project,
        root,
        CAUSE,
        plus(place.module, place.node, -1),
        f"Count the labels from 0: they are 1..{classes}, the loss takes 0..{classes - 1}.",
        f"{place.site}: `{text}` is lowered by 1, so that label {classes} becomes the last of {classes} classes.",
        "Places that print or look up a class by the old number: they have to add 1 again.",
    )


def _numeric_place(project: Project, target: Value) -> Hop | None:
    """The expression farthest back on the labels' way that surely is a tensor, an array or a number."""
    found = data_origins_of(project, target)
    if len(found) != 1:
        return None
    chosen = None
    for hop in places(found[0]):
        if isinstance(hop.node, ast.stmt):
            # A write in place: an earlier expression is not yet what reaches the loss.
            chosen = None
        if isinstance(hop.node, ast.Call):
            name = library_name(new_walk(project), Value(hop.module, hop.node))
            if (name.startswith(ARRAYS) and not _is_loader(name)) or name in NUMBERS:
                chosen = hop
    return chosen


def _is_loader(name: str) -> bool:
    return name.startswith(("torch.utils.data.", "torch.nn."))
