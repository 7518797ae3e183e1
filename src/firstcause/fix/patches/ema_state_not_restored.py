"""A checkpoint without the averaged weights: saved with the weights, and loaded after them.

Facts: those of ``fix/checkpoints``, and ``by_module``, whether the average is a module with a state of its own; else it is a
table of tensors.
"""

from __future__ import annotations

from firstcause.fix import rosters
from firstcause.fix.checkpoints import added_entry, new_key, read, written
from firstcause.fix.kept_states import kept, made
from firstcause.fix.operations import Facts
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "ema-state-not-restored"
OTHER = "The optimizer, the schedule and random generators that are not in the file either."


def line(facts: Facts, project: Project) -> Site | None:
    """The dict that is saved without it, or the load that leaves it out."""
    return rosters.line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """One entry more in the file, and one statement more at the load; None where it has no name at one of them."""
    if facts.get("by_module"):
        given = (facts, project, root, CAUSE, "ema", OTHER)
        return rosters.entered(*given) or kept(*given)
    saves, loads = written(facts, project), read(facts, project)
    if saves is None or loads is None or saves.expression is None or facts.get("in_file"):
        return None
    key = new_key(saves, "ema")
    entry = [added_entry(saves, key, saves.expression)]
    put = f'{loads.expression}.update({loads.source}["{key}"])'
    if facts.get("class") == "list":
        put = f'{loads.expression}[:] = {loads.source}["{key}"]'
    return made(project, root, CAUSE, (saves, loads), entry, [put], OTHER)
