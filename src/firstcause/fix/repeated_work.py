"""Work that gives the same again is done once, and its result kept.

Facts:

- ``file``, ``line``, ``column``, ``last``, ``kind``: the piece of the program, as in ``source/pieces``.
- ``inputs``: its inputs in order: ``name``, ``values`` (how many different ones were seen), ``simple`` (whether it can be a key).
- ``hot``: the line in it where the time goes.
- ``called``: of a whole function, the only line that calls it; None else.
- ``distinct``, ``gain``: how many results there are, and how much faster the same steps were with them kept.
"""

from __future__ import annotations

from firstcause.fix import keeping
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.pieces import Piece, located


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that does the work again, or the only one that calls the function that does."""
    if facts.get("called"):
        return named_line(facts["called"], project)
    module, piece = module_of(facts, project), Piece.of(facts)
    found = located(module.tree, piece) if module is not None else None
    if module is None or found is None:
        return None
    run = found[0][found[1] : found[2] + 1]
    hot = int(facts.get("hot") or piece.last)
    at = [s for s in run if s.lineno <= hot <= (s.end_lineno or s.lineno)]
    return module.site(at[0] if piece.kind == "run" and at else run[0])


def patch(cause: str, facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep the result; None where an input cannot be the key of a dict."""
    module, site = module_of(facts, project), line(facts, project)
    made = keeping.edits(module, facts) if module is not None and site is not None else None
    if made is None:
        return None
    edits, where = made
    gain = (facts.get("gain") or {}).get("gain", 0.0)
    return draft(
        project,
        root,
        cause,
        edits,
        f"Do the work at {site} once for each of its {facts['distinct']} different inputs and keep the result {where}.",
        f"The same steps were {gain:.1f} times as fast so; {facts['distinct']} results stay in memory.",
        "What changes the inputs' files or contents while the program runs is no longer seen; the rest of the step is as slow.",
    )
