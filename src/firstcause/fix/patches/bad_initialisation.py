"""Weights that begin equal, or on no fitting scale: another start (facts in ``fix/starts``); zero beside zero: one is drawn.

Facts of the latter: ``zeros``: the ``class`` and the ``name`` of the weight to draw.
"""

from __future__ import annotations

import ast

from firstcause.fix import starts
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name
from firstcause.source.zeroed import zeroed

CAUSE = "bad-initialisation"


def line(facts: Facts, project: Project) -> Site | None:
    """What makes the start as it is."""
    place = _zeroed(facts, project)
    if place is not None:
        return place[0].site(place[1])
    return starts.line(CAUSE, facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The change that an arm has proven alone."""
    if facts.get("zeros"):
        return _drawn(facts, project, root)
    return starts.patch(CAUSE, facts, project, root)


def _zeroed(facts: Facts, project: Project) -> tuple[Module, ast.Call] | None:
    one = facts.get("zeros") or {}
    return zeroed(project, one["class"], one["name"]) if one else None


def _drawn(facts: Facts, project: Project, root: str) -> Fix | None:
    """``nn.init.kaiming_uniform_(self.down, a=5**0.5)`` in place of ``nn.init.zeros_(self.down)``; nothing for other forms."""
    place = _zeroed(facts, project)
    if place is None or last_name(place[1].func) != "zeros_" or len(place[1].args) != 1:
        return None
    module, call = place
    assert isinstance(call.func, ast.Attribute)
    given = module.segment(call.args[0])
    text = f"{module.segment(call.func.value)}.kaiming_uniform_({given}, a=5**0.5)"
    site = module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, text)],
        f"Draw {given} at {site} as torch draws a layer's weights; the other factor stays at zero, so the product begins there.",
        f"{site}: both factors get gradients from the second step on.",
        "Checkpoints that were written before: their factors are zero.",
    )
