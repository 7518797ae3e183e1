"""A batch norm given one value per channel: the loader leaves out a last batch of one.

Facts:

- ``class_name``, ``attribute_path``: a class of the project and the norm's path beneath its objects.
- ``shape``: of what the norm was given; ``first_step``: True where no step came before.
- ``loop``: file and line of the training loop, where known.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.fix.submodules import constructions
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.arguments import argument
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.values import number
from firstcause.source.walk import Hop

CAUSE = "batchnorm-small-batch"


def line(facts: Facts, project: Project) -> Site | None:
    """The loader whose batch has one sample; the norm where no loader is seen."""
    loader = _loader(facts, project)
    if loader is not None:
        return loader.site
    kinds = (
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "SyncBatchNorm",
        "LazyBatchNorm1d",
        "LazyBatchNorm2d",
    )
    found = (
        [c for kind in kinds for c in constructions(facts, project, kind, {})]
        if facts.get("attribute_path")
        else []
    )
    return found[0].site if found else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``drop_last=True`` where batches are larger but for the last; None where every batch is one sample."""
    loader = _loader(facts, project)
    if loader is None or facts.get("first_step"):
        return None
    assert isinstance(loader.node, ast.Call)
    size = argument(loader.node, 1, "batch_size")
    known = number(project, Value(loader.module, size.node)) if size is not None else 1
    if known is None or known <= 1:
        return None
    written = argument(loader.node, 8, "drop_last")
    edits = (
        [added_keyword(loader.module, loader.node, "drop_last=True")]
        if written is None
        else [replaced(loader.module, written.node, "True")]
    )
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Leave out the last batch of one sample at {loader.site}: batch norm has one value per channel there.",
        f"{loader.site}: `drop_last=True`; an epoch has the samples of its full batches alone.",
        "Batches of two or three samples, whose statistics are noise, and the samples left out.",
    )


def _loader(facts: Facts, project: Project) -> Hop | None:
    """The DataLoader that the training loop goes over."""
    loop = facts.get("loop") or {}
    module = project.module(str(loop["file"])) if loop.get("file") else None
    if module is None:
        return None
    loops = [
        n for n in module.nodes_on(int(loop["line"])) if isinstance(n, ast.For) and n.lineno == loop["line"]
    ]
    walk = new_walk(project)
    for node in loops:
        for source in _iterated(node.iter):
            for origin in new_walk(project).origins(Value(module, source)):
                if isinstance(origin.node, ast.Call):
                    name = library_name(walk, Value(origin.module, origin.node))
                    if name.rpartition(".")[2] == "DataLoader":
                        return Hop(origin.module, origin.node)
    return None


def _iterated(node: ast.expr) -> list[ast.expr]:
    """What a loop goes over, with what enumerate, tqdm and the like wrap."""
    if isinstance(node, ast.Call):
        return [node, *[a for a in node.args if isinstance(a, ast.expr)]]
    return [node]
