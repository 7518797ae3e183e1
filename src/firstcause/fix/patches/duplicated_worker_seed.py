"""Generators that all workers have in one state: each gets a seed of its own when a worker begins.

Facts:

- ``file``, ``line``: the loop over the loader.
- ``name``: the path of attributes from the loader's dataset to the generator; ``owner`` the class that holds it.
- ``kind``: the generator's class; ``own_init`` whether the loader has a ``worker_init_fn``.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.loaders import loader_of
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import added_keyword
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.constructs import classes_named

CAUSE = "duplicated-worker-seed"


def line(facts: Facts, project: Project) -> Site | None:
    """Where the generator is made; else the loader that starts the workers, else its loop."""
    made = _made(facts, project)
    loader = loader_of(facts, project)
    for found in (made, loader):
        if found is not None:
            return found[0].site(found[1])
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``worker_init_fn`` on the loader; None where there is one, or where the code does not show the generator's making."""
    made, loader = _made(facts, project), loader_of(facts, project)
    if made is None or loader is None or facts.get("own_init") or not isinstance(made[1], ast.Assign):
        return None
    seeded = _seeded(*made, str(facts.get("kind")))
    holder, _, attribute = str(facts["name"]).rpartition(".")
    dataset = "torch.utils.data.get_worker_info().dataset" + (f".{holder}" if holder else "")
    if seeded is None or "[" in holder or made[0] is not loader[0]:
        return None
    init = f'lambda worker: setattr({dataset}, "{attribute}", {seeded})'
    module, call = loader
    return draft(
        project,
        root,
        CAUSE,
        [added_keyword(module, call, f"worker_init_fn={init}")],
        f"Give `{attribute}` a seed of its own in each worker of the loader at {module.site(call)}.",
        "Samples differ from worker to worker and from epoch to epoch; a run repeats only if the base seed does.",
        "The order of the samples, which is the sampler's, and batches that were drawn before.",
    )


def _made(facts: Facts, project: Project) -> tuple[Module, ast.AST] | None:
    """The assignment of the generator to the attribute of its owner."""
    attribute = str(facts.get("name") or "").rpartition(".")[2]
    for found in classes_named(project, str(facts.get("owner") or "")):
        for node in ast.walk(found.node):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets) and _calls(node):
                return found.module, node
    return None


def _calls(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(n, ast.Call) for n in ast.walk(node.value))


def _seeded(module: Module, node: ast.AST, kind: str) -> str | None:
    """The same generator with torch's seed of the worker."""
    value = getattr(node, "value", None)
    if kind == "Generator" and "torch" in module.segment(value or node):
        return "torch.Generator().manual_seed(torch.initial_seed())"
    if not isinstance(value, ast.Call):
        return None
    seed = "torch.initial_seed() % 2**32" if kind == "RandomState" else "torch.initial_seed()"
    return f"{module.segment(value.func)}({seed})"
