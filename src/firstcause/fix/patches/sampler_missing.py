"""A loader that gives all samples to every rank: a distributed sampler divides them.

Facts:

- ``file``, ``line`` and the columns: the call that builds the loader; ``loop`` the place of the loop over it.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.epochs import epoch_of
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.patches.sampler_set_epoch_missing import told
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.fix.scopes import named
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "sampler-missing"
SAMPLERS = ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler")


def line(facts: Facts, project: Project) -> Site | None:
    """The call that builds the loader."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The sampler on that call, and the epoch told to it where the code shows it; None for samplers of the program's own."""
    module = module_of(facts, project)
    calls = (
        [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call)]
        if module is not None
        else []
    )
    calls = [
        c for c in calls if module is not None and module.segment(c.func).rpartition(".")[2] == "DataLoader"
    ]
    if module is None or len(calls) != 1:
        return None
    edits = _sampled(module, calls[0])
    if not edits:
        return None
    epoch = epoch_of(facts.get("loop") or {}, project)
    if epoch is not None and "shuffle=True" in edits[0].new_text:
        before = inserted_line_before(epoch.module, epoch.before, told(epoch))
        edits += [before] if before is not None else []
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Divide the samples among the ranks with a DistributedSampler, at {module.site(calls[0])}.",
        "Each rank draws its share: an epoch takes fewer steps, of batches that differ between the ranks.",
        "A learning rate that was tuned for the smaller batch, and data that one rank alone reads.",
    )


def _sampled(module: Module, call: ast.Call) -> list[Edit]:
    given = {k.arg: k for k in call.keywords}
    dataset = given["dataset"].value if "dataset" in given else call.args[0] if call.args else None
    sampler = next((n for dotted in SAMPLERS if (n := named(module, dotted))), None)
    if dataset is None or sampler is None or len(call.args) > 2 or given.keys() & {"batch_sampler", None}:
        return []
    shuffle = given.get("shuffle")
    random = "sampler" in given and "Random" in module.segment(given["sampler"].value)
    shuffled = random or (shuffle is not None and module.segment(shuffle.value) != "False")
    text = f"sampler={sampler}({module.segment(dataset)}, shuffle={shuffled})"
    old = given.get("sampler") or shuffle
    if "sampler" in given and shuffle is not None:
        return []
    return [replaced(module, old, text) if old is not None else added_keyword(module, call, text)]
