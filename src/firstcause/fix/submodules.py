"""The construction of the submodule that a replay names, told from others by what the run saw of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from firstcause.fix.operations import Facts
from firstcause.source import Construction, Project, find_module_construction
from firstcause.source.frames import Value
from firstcause.source.values import number


def constructions(
    facts: Facts, project: Project, kind: str, seen: Mapping[tuple[str, int], object]
) -> list[Construction]:
    """The calls that can have built the module of ``class_name`` and ``attribute_path`` in the facts.

    ``kind`` is the last part of the built class's name; ``seen`` gives the run's value of arguments by
    (name, position): a call that says another number was another module's.
    """
    path = str(facts.get("attribute_path") or "")
    if not path:
        return _by_numbers(project, kind, seen)
    found = find_module_construction(project, str(facts.get("class_name") or ""), path)
    fitting = [c for c in found if c.callee.rpartition(".")[2] == kind]
    return [
        c
        for c in fitting
        if all(_fits(project, c, name, place, value) for (name, place), value in seen.items())
    ]


def _by_numbers(project: Project, kind: str, seen: Mapping[tuple[str, int], object]) -> list[Construction]:
    """The same where no path is known (a model that is no class of the project): the calls that say what was seen."""
    if all(value is None for value in seen.values()):
        return []
    calls = [
        Value(module, node)
        for module in project.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and (node.args or node.keywords)
    ]
    built = [Construction(project, value, ()) for value in calls]
    fitting = [c for c in built if c.callee.rpartition(".")[2] == kind]
    sure = [c for c in fitting if _says(project, c, seen)]
    possible = [
        c
        for c in fitting
        if all(_fits(project, c, name, place, value) for (name, place), value in seen.items())
    ]
    # Where no number is written, the only construction that could have it is the one.
    return sure or (possible if len(possible) == 1 else [])


def _says(project: Project, construction: Construction, seen: Mapping[tuple[str, int], object]) -> bool:
    for (name, place), value in seen.items():
        given = construction.argument(name, place)
        if value is not None and (given is None or number(project, given) != value):
            return False
    return True


def _fits(project: Project, construction: Construction, name: str, place: int, seen: object) -> bool:
    given = construction.argument(name, place)
    known = number(project, given) if given is not None else None
    return known is None or seen is None or known == seen


def argument_of(found: list[Construction], name: str, position: int) -> Value | None:
    """The argument that all constructions share; None where they are several different expressions."""
    values = {id(v.node): v for c in found if (v := c.argument(name, position)) is not None}
    return next(iter(values.values())) if len(values) == 1 else None
