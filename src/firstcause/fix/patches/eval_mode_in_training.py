"""An evaluation leaves the model in its mode: ``train()`` is called where training goes on.

Facts:

- ``switch``: the place that switched to evaluation.
- ``backward``: the place of the backward call.
"""

from __future__ import annotations

from firstcause.fix.clearing import calls_in, statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.scopes import receiver
from firstcause.fix.training_mode import switched_on
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "eval-mode-in-training"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that switches to evaluation and leaves it so."""
    return named_line(facts.get("switch") or {}, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``model.train()`` in front of the training loop; None where the model's name is not known there."""
    switch, backward = (statement_of(facts.get(k), project) for k in ("switch", "backward"))
    if switch is None or backward is None:
        return None
    calls = calls_in(*switch, "eval") or calls_in(*switch, "train")
    found = switched_on(project, *backward, receiver(switch[0], calls[0])) if calls else None
    if found is None:
        return None
    edit, before, model = found
    site = backward[0].site(before)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Call `{model}.train()` before {site}: {switch[0].site(switch[1])} leaves it in evaluation mode.",
        f"{site}: dropout acts and statistics move in training again; the training loss rises a little.",
        "The statistics of batch norm that the steps until now did not update.",
    )
