"""Samples in a fixed order: the loader shuffles, or rows are taken by the numbers of a random order.

Facts:

- ``file``, ``line``: the loop over the loader, or the slice that takes a batch; ``by`` is ``loader`` or ``slices``.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.loaders import loader_of
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "not-shuffled"


def line(facts: Facts, project: Project) -> Site | None:
    """The call that builds the loader; else the line that takes the batch."""
    loader = loader_of(facts, project) if facts.get("by") == "loader" else None
    return loader[0].site(loader[1]) if loader is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``shuffle=True``, or a random order of the rows; None where the code shows neither."""
    edits = _of_loader(facts, project) if facts.get("by") == "loader" else _of_rows(facts, project)
    site = line(facts, project)
    if not edits or site is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Read the samples in another random order in each epoch: {site}.",
        "Batches are mixed; runs differ by the order unless the generator is seeded.",
        "Data of which one kind is rare: shuffled batches show it too.",
    )


def _of_loader(facts: Facts, project: Project) -> list[Edit]:
    found = loader_of(facts, project)
    if found is None:
        return []
    module, call = found
    named = {k.arg: k.value for k in call.keywords}
    if "shuffle" in named:
        return [replaced(module, named["shuffle"], "True")]
    if named.keys() & {"sampler", "batch_sampler", None} or len(call.args) > 2:
        return []
    return [added_keyword(module, call, "shuffle=True")]


def _of_rows(facts: Facts, project: Project) -> list[Edit]:
    module = module_of(facts, project)
    found = statement_of(facts, project)
    nodes = module.nodes_on(int(facts["line"])) if module is not None else []
    if module is None:
        return []
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("split", "chunk")
        ):
            counted = node.func.value
            if (
                isinstance(counted, ast.Call)
                and module.segment(counted.func) == "torch.arange"
                and len(counted.args) == 1
            ):
                return [replaced(module, counted.func, "torch.randperm")]
    return _of_slices(module, found[1]) if found is not None else []


def _of_slices(module: Module, statement: ast.stmt) -> list[Edit]:
    """``x[i : i + n]`` becomes ``x[order[i : i + n]]`` for every such slice of the loop, with the order drawn before it."""
    loop = next((a for a in module.ancestors(statement) if isinstance(a, ast.For)), None)
    if loop is None or not isinstance(loop.target, ast.Name):
        return []
    start = loop.target.id
    cut = [
        n
        for n in ast.walk(loop)
        if isinstance(n, ast.Subscript)
        and isinstance(n.slice, ast.Slice)
        and n.slice.lower is not None
        and module.segment(n.slice.lower) == start
    ]
    before = (
        inserted_line_before(module, loop, f"order = torch.randperm(len({module.segment(cut[0].value)}))")
        if cut
        else None
    )
    if before is None or "order" in {n.id for n in module.nodes(ast.Name)}:
        return []
    return [before, *(replaced(module, n.slice, f"order[{module.segment(n.slice)}]") for n in cut)]
