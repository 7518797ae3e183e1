"""A softmax over a row that is masked whole: the mask is left open for such rows.

Facts:

- ``file``, ``line``: where the mask's infinities enter (or, where the mask is a factor of 0, the failing line).
- ``column``, ``end_column``, ``end_line``: the call's place, as for log-of-zero; optional.
- ``dim``: the softmax's axis, counted from the end; ``length``: how many elements a row has.
- ``mask_shape``: the shape of the boolean mask that was filled in; None where it was none.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, candidates, module_of, named_line
from firstcause.fix.rewrite import atom, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.callsites import last_name

CAUSE = "fully-masked-attention-row"
FILLS = frozenset({"masked_fill", "masked_fill_"})
PADDINGS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")


def line(facts: Facts, project: Project) -> Site | None:
    """The line at which the mask is applied."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Leave a mask open where it would hide a whole row; None for masks that are no boolean tensor of their own."""
    module, dim, shape = module_of(facts, project), facts.get("dim"), facts.get("mask_shape")
    if module is None or dim is None or not shape or len(shape) < -dim or shape[dim] != facts.get("length"):
        return None
    found = candidates(project, module, facts, _mask)
    if len(found) != 1:
        return None
    call, mask = found[0]
    assert isinstance(call, ast.Call)
    is_padding = last_name(call.func) not in FILLS
    if is_padding and len(shape) != 2:
        return None
    text, site = module.segment(mask), module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        _opened(module, mask, dim),
        f"Leave the mask at {site} open for rows that it would hide whole: softmax over nothing but -inf is 0 / 0.",
        f"{site}: `{text}` no longer hides a row of which it hides every element; all other rows are masked as before.",
        "What a row without any element should give: it is now averaged over the elements that the mask meant to "
        "hide. Where its output is used, it may have to be replaced or left out of the loss.",
    )


def _mask(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    """The boolean mask that a call is given: the first argument of masked_fill, or the padding of an attention."""
    if not isinstance(node, ast.Call):
        return None
    if last_name(node.func) in FILLS and isinstance(node.func, ast.Attribute):
        is_function = last_name(node.func.value) == "torch"
        given = argument(node, 1 if is_function else 0, "mask")
        return given.node if given is not None and given.sure else None
    paddings = [k.value for k in node.keywords if k.arg in PADDINGS]
    return paddings[0] if len(paddings) == 1 else None


def _opened(module: Module, mask: ast.expr, dim: int) -> list[Edit]:
    whole = atom(module, mask)
    return [replaced(module, mask, f"{whole} & ~{whole}.all(dim={dim}, keepdim=True)")]
