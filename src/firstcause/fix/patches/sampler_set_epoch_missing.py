"""A distributed sampler that never hears of the epoch: it is told before each pass.

Facts:

- ``file``, ``line``: the loop over the loader.
"""

from __future__ import annotations

from firstcause.fix.draft import draft
from firstcause.fix.epochs import Epoch, epoch_of
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "sampler-set-epoch-missing"


def line(facts: Facts, project: Project) -> Site | None:
    """The loop over the epochs; else the one over the loader."""
    epoch = epoch_of(facts, project)
    return epoch.module.site(epoch.loop) if epoch is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``set_epoch`` before the pass; None where the code does not show the epoch's number and the loader together."""
    epoch = epoch_of(facts, project)
    if epoch is None:
        return None
    edit = inserted_line_before(epoch.module, epoch.before, told(epoch))
    if edit is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Tell the sampler the epoch before each pass, at {epoch.module.site(epoch.before)}.",
        "Each epoch has an order of its own, the same on each run of the same seed.",
        "Random augmentation that repeats: it has a generator of its own.",
    )


def told(epoch: Epoch) -> str:
    return f"{epoch.loader}.sampler.set_epoch({epoch.number})"
