"""A schedule on the wrong clock: its step moves behind the loop over batches, or into it; for Lightning its interval.

Facts:

- ``call``: the place that steps the schedule; may be empty where it was not reached, or where a library takes the step.
- ``per_batch``: True where it is stepped with each batch.
- ``step``: the place of the optimizer's step.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import calls_in, scope_of, statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import inserted_after, replaced
from firstcause.fix.statements import inserted_line_after, removed
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "scheduler-per-batch"
LOOPS = (ast.For, ast.While)


def line(facts: Facts, project: Project) -> Site | None:
    """The line that steps the schedule, or that hands it to Lightning."""
    found = _call(facts, project) or _handed(project)
    return found[0].site(found[1]) if found is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The statement on the other side of the batch loop's end; None where it is more than one call."""
    found = _call(facts, project)
    if found is None:
        handed = _handed(project)
        return _interval(facts, project, root, *handed) if handed is not None else None
    module, statement = found
    after = _loop(module, statement) if facts.get("per_batch") else _step(facts, project, module, statement)
    if not isinstance(statement, ast.Expr) or after is None or not _is_known(module, statement, after):
        return None
    gone, moved = removed(module, statement), inserted_line_after(module, after, module.segment(statement))
    if gone is None or moved is None:
        return None
    site, text = module.site(statement), module.segment(statement)
    clock = "epoch" if facts.get("per_batch") else "optimizer step"
    return draft(
        project,
        root,
        CAUSE,
        [gone, moved],
        f"Call `{text}` once per {clock}, which the schedule counts, instead of at {site}.",
        f"{site}: the learning rate follows its schedule over the whole training.",
        "Totals and warm-ups that were tuned around the fault.",
    )


def _call(facts: Facts, project: Project) -> tuple[Module, ast.stmt] | None:
    found = statement_of(facts.get("call"), project)
    if found is not None:
        return found
    calls = [
        (m, s)
        for m in project.modules
        for c in calls_in(m, m.tree, "step")
        if "sched" in m.segment(c.func).lower() and (s := m.statement(c)) is not None
    ]
    return calls[0] if len(calls) == 1 else None


def _handed(project: Project) -> tuple[Module, ast.Dict] | None:
    """The one mapping by which ``configure_optimizers`` hands a schedule over: ``{"scheduler": …, "interval": …}``."""
    found = [
        (m, node)
        for m in project.modules
        for node in m.nodes(ast.Dict)
        if "scheduler" in _entries(node) and getattr(m.function(node), "name", "") == "configure_optimizers"
    ]
    return found[0] if len(found) == 1 else None


def _entries(node: ast.Dict) -> dict[str, ast.expr]:
    pairs = zip(node.keys, node.values, strict=True)
    return {str(k.value): v for k, v in pairs if isinstance(k, ast.Constant)}


def _interval(facts: Facts, project: Project, root: str, module: Module, node: ast.Dict) -> Fix | None:
    """Lightning's own word for the clock of a schedule."""
    wanted = "epoch" if facts.get("per_batch") else "step"
    entries = _entries(node)
    given = entries.get("interval")
    if given is not None:
        edit = replaced(module, given, f'"{wanted}"')
    else:
        edit = inserted_after(module, entries["scheduler"], f', "interval": "{wanted}"')
    site, clock = module.site(node), "epoch" if wanted == "epoch" else "optimizer step"
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Step the schedule once per {clock}, which it counts, at {site}.",
        f"{site}: the learning rate follows its schedule over the whole training.",
        "Totals and warm-ups that were tuned around the fault.",
    )


def _loop(module: Module, statement: ast.stmt) -> ast.stmt | None:
    """The loop over batches: around the statement, or around the one call of its function."""
    scope = scope_of(module, statement)
    own = next((a for a in module.ancestors(statement) if isinstance(a, LOOPS)), None)
    if own is not None and scope_of(module, own) is scope:
        return own
    name = getattr(scope, "name", "")
    calls = [s for c in calls_in(module, module.tree, name) if (s := module.statement(c)) is not None]
    if len(calls) != 1:
        return None
    return next((a for a in module.ancestors(calls[0]) if isinstance(a, LOOPS)), None)


def _is_known(module: Module, statement: ast.stmt, after: ast.stmt) -> bool:
    """Whether the statement means the same behind ``after``: in one function, by ``self`` in one class, or by a global."""
    if scope_of(module, after) is scope_of(module, statement):
        return True
    function = module.function(after)
    if scope_of(module, statement) is module.tree and function is not None:
        names = {n.id for n in module.inside(statement, ast.Name)}
        own = {n.id for n in module.inside(function, ast.Name) if isinstance(n.ctx, ast.Store)}
        return not names & (own | {a.arg for a in module.inside(function, ast.arg)})
    holder = module.method_class(statement)
    is_one_class = holder is not None and holder is module.method_class(after)
    return is_one_class and module.segment(statement).startswith("self.")


def _step(facts: Facts, project: Project, module: Module, statement: ast.stmt) -> ast.stmt | None:
    found = statement_of(facts.get("step"), project)
    if found is None or found[0] is not module:
        return None
    return found[1]
