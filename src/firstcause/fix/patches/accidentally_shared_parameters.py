"""One object at several places: each place builds its own.

Facts:

- ``class_name``: the class of the object that the source repeats.
- ``even_meant``: True where what the program calls shared is not this object.
"""

from __future__ import annotations

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.repeated_modules import Repeated, find_repeated

CAUSE = "accidentally-shared-parameters"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that repeats the object."""
    found = _found(facts, project)
    return found.module.site(found.node) if found is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A comprehension in place of a repeated list, the call in place of a name that stands again; none for a default."""
    found = _found(facts, project)
    if found is None or found.built is None or found.text is None:
        return None
    text = found.text.format(found.module.segment(found.built))
    site = found.module.site(found.node)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(found.module, node, text) for node in (found.node, *found.again)],
        f"Build a {facts['class_name']} of its own for each place at {site}: `{text}`.",
        f"{site}: the model has more parameters, and each place learns its own; old checkpoints fill all with the same.",
        "Sharing that is meant, such as tied embeddings.",
    )


def _found(facts: Facts, project: Project) -> Repeated | None:
    found = find_repeated(project, str(facts.get("class_name") or ""), bool(facts.get("even_meant")))
    return found[0] if len(found) == 1 else None
