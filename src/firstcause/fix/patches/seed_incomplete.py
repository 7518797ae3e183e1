"""A source of chance that nothing seeds: seeded where the others are, with their seed.

Facts:

- ``source``: "python", "numpy", "torch", or "generators" for one that is made without a seed.
- ``file``, ``line``: the last call that seeds another source; for a generator, the call that makes it.
- ``seed``: the text of the seed that the others get.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.scopes import named
from firstcause.fix.statements import inserted_line_after
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.resolve import external, resolve
from firstcause.source.seeding import MADE

CAUSE = "seed-incomplete"
LIBRARIES = {
    "python": ("random", "{0}.seed({1})"),
    "numpy": ("numpy", "{0}.random.seed({1})"),
    "torch": ("torch", "{0}.manual_seed({1})"),
}


def line(facts: Facts, project: Project) -> Site | None:
    """Where the other sources are seeded, or the generator is made."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """One more call after the last that seeds; None where the file does not import the library, or no seed is written."""
    found, seed = statement_of(facts, project), facts.get("seed")
    if found is None or not seed:
        return None
    module, statement = found
    source = str(facts.get("source"))
    edit = (
        _given(project, module, statement, str(seed))
        if source == "generators"
        else _called(module, statement, source, str(seed))
    )
    if edit is None:
        return None
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Seed what is left out, with the seed of the others: {site}.",
        f"{site}: the numbers that are drawn are the same in every run.",
        "Kernels that add in another order, and workers of a loader, which have seeds of their own.",
    )


def _called(module: Module, statement: ast.stmt, source: str, seed: str) -> Edit | None:
    library, text = LIBRARIES[source]
    name = named(module, library)
    if name is None:
        return None
    return inserted_line_after(module, statement, text.format(name, seed))


def _given(project: Project, module: Module, statement: ast.stmt, seed: str) -> Edit | None:
    """The seed as the argument of the call; only one that is a number holds wherever the call stands."""
    if not seed.isdigit():
        seed = "0"
    for call in ast.walk(statement):
        if (
            isinstance(call, ast.Call)
            and not call.args
            and external(resolve(project, module, call.func)) in MADE
        ):
            end = (call.end_lineno or call.lineno, (call.end_col_offset or 1) - 1)
            return Edit(module.path, end, end, seed)
    return None
