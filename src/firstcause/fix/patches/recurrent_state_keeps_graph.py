"""A state carried from step to step keeps the graph of all steps: it is detached where a step begins.

Facts: as for graph-reused-across-iterations; or ``growth`` alone, where nothing was raised: ``site`` the place of the
statement that makes the state anew, ``name`` its name, and ``container``, ``tuple`` where it has several parts.
"""

from __future__ import annotations

import ast

from firstcause.fix.bindings import Binding, binding_of
from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import called
from firstcause.fix.statements import inserted_line_after, inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.feeds import last_name

CAUSE = "recurrent-state-keeps-graph"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that hands the state on to the next step; where no name holds it, the line that uses it."""
    if facts.get("growth"):
        grown = statement_of(facts["growth"].get("site"), project)
        return grown[0].site(grown[1]) if grown is not None else None
    found = binding_of(facts, project)
    if found is not None:
        return found.module.site(found.statement)
    use = facts.get("use") or {}
    return named_line(use, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Detach the state at the top of the loop, or where the object keeps it; None where it is held in another way."""
    if facts.get("growth"):
        return _of_growth(facts["growth"], project, root)
    found = binding_of(facts, project)
    if found is None:
        return None
    holder: Facts = next(
        (h for h in facts.get("holders") or [] if found.name in (h.get("name"), h.get("attribute"))), {}
    )
    edits = (
        _of_attribute(found)
        if holder.get("attribute")
        else _of_name(found, str(holder.get("expression") or ""))
    )
    if not edits:
        return None
    site = found.module.site(found.statement)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Detach `{found.name}`, bound at {site}, before the next step uses it.",
        f"Each step starts from the values of `{found.name}` and not from its graph; gradients reach back to the start "
        f"of the step and no further.",
        "Dependencies that are longer than one step: they need longer sequences in a step.",
    )


def _of_growth(facts: Facts, project: Project, root: str) -> Fix | None:
    """Detach what the statement makes: its value where it makes nothing else, else on a line after it."""
    found = statement_of(facts.get("site"), project)
    if found is None:
        return None
    module, statement = found
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    names = [
        e
        for e in (target.elts if isinstance(target, ast.Tuple) else [target])
        if last_name(e) == facts.get("name")
    ]
    if len(names) != 1:
        return None
    edits: list[Edit] = []
    if names[0] is target and not facts.get("container"):
        edits = called(module, statement.value, ".detach()")
    else:
        name = ast.unparse(names[0])
        parts = f"tuple(part.detach() for part in {name})" if facts.get("container") else f"{name}.detach()"
        after = inserted_line_after(module, statement, f"{name} = {parts}")
        edits = [after] if after is not None else []
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Detach `{ast.unparse(names[0])}`, made at {site}, before the next step uses it.",
        "Each step starts from the values of the state and not from its graph.",
        "Dependencies that are longer than one step: they need longer sequences in a step.",
    )


def _of_name(found: Binding, expression: str) -> list[Edit]:
    if not isinstance(found.loop, (ast.For, ast.While, ast.AsyncFor)) or not isinstance(
        found.statement, ast.Assign
    ):
        return []
    name = found.name
    detached = (
        f"tuple(part.detach() for part in {name})" if expression.endswith("[...]") else f"{name}.detach()"
    )
    before = [
        s
        for s in ast.walk(found.module.function(found.loop) or found.module.tree)
        if isinstance(s, ast.Assign)
        and s.lineno < found.loop.lineno
        and any(isinstance(t, ast.Name) and t.id == name for t in s.targets)
    ]
    starts_as_none = any(isinstance(s.value, ast.Constant) and s.value.value is None for s in before)
    text = f"{name} = None if {name} is None else {detached}" if starts_as_none else f"{name} = {detached}"
    edit = inserted_line_before(found.module, found.loop.body[0], text)
    return [edit] if edit is not None else []


def _of_attribute(found: Binding) -> list[Edit]:
    statement = found.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    if not isinstance(target, ast.Attribute):
        return []
    wanted = ast.dump(ast.parse(ast.unparse(target), mode="eval").body)
    reads = [n for n in ast.walk(statement.value) if isinstance(n, ast.Attribute) and ast.dump(n) == wanted]
    if reads:
        # What the step makes of it keeps its graph; only what it starts from loses it.
        return [e for n in reads for e in called(found.module, n, ".detach()")]
    function = found.module.function(statement)
    others = ast.walk(function) if function is not None else iter(())
    later = [
        n
        for n in others
        if isinstance(n, ast.Attribute) and ast.dump(n) == wanted and n.lineno > statement.lineno
    ]
    return (
        called(found.module, statement.value, ".detach()")
        if isinstance(statement.value, ast.Name) and not later
        else []
    )
