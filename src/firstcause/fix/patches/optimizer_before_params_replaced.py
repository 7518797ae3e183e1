"""The optimizer was made before parameters were replaced: it is made after that, or once more where it has stepped before.

Where a method puts in parameters of the same shape again and again, their values are written into those that are there.

Facts:

- ``missing``: the parameters that it lacks, each with its ``name`` in the model.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.optimizers import constructions
from firstcause.fix.remade import remade_after
from firstcause.fix.restarts import Restart, restarts
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import statement_at
from firstcause.fix.statements import inserted_line_after, removed
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "optimizer-before-params-replaced"
# What makes a schedule: torch's classes, and the functions of transformers and diffusers.
SCHEDULES = re.compile(r"(LR|Restarts|Plateau|Scheduler)$|(^|\.)get_\w*schedule\w*$")


@dataclass(frozen=True)
class _Late:
    """The replacement after which the optimizer is to be made, what is made with it, and whether it has stepped before."""

    after: ast.stmt
    belongs: list[ast.Assign]
    again: bool


def line(facts: Facts, project: Project) -> Site | None:
    """The line that makes the optimizer too early, or the replacement after which it is to be made again."""
    restarted = _restarted(facts, project)
    if restarted:
        return restarted[0].module.site(restarted[0].statement)
    made = _made(facts, project)
    if made is None:
        return None
    module, statement = made
    late = _late(facts, project, module, statement)
    if late is None and _replacement(facts, project, module, statement) is None:
        found = _remade(facts, project, module, statement)
        return module.site(found[0] if found is not None else statement)
    return module.site(late.after if late is not None and late.again else statement)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The line moved behind the replacement, or written there once more; None where they stand apart."""
    restarted = _restarted(facts, project)
    if restarted:
        return _in_place(project, root, restarted)
    made = _made(facts, project)
    if made is None:
        return None
    module, statement = made
    if _replacement(facts, project, module, statement) is None:
        found = _remade(facts, project, module, statement)
        if found is not None:
            return _anew(project, root, module, statement, *found)
        module, statement = _asked_for(project, module, statement) or made
    late = _late(facts, project, module, statement)
    if late is None or statement_at(module, {"line": statement.lineno}) is not statement:
        return None
    edits = [inserted_line_after(module, late.after, module.segment(s)) for s in late.belongs]
    edits += [removed(module, s) for s in late.belongs if not late.again]
    if any(e is None for e in edits):
        return None
    site, after = module.site(statement), module.site(late.after)
    summary = f"Make the optimizer of {site} after {after}, which gives the model other parameters."
    changes = f"{site}: the optimizer holds the parameters that the model runs with."
    other = "State of the optimizer begins anew for what was replaced."
    if late.again:
        made_for_it = ", and what was made for it" if len(late.belongs) > 1 else ""
        summary = (
            f"Make the optimizer anew after {after}, which gives the model other parameters{made_for_it}."
        )
        changes = f"{after}: the optimizer holds the parameters that the model runs with from there on."
        other = "The new optimizer begins without state, and a schedule made for it at its start."
    return draft(project, root, CAUSE, [e for e in edits if e is not None], summary, changes, other)


def _restarted(facts: Facts, project: Project) -> list[Restart]:
    """What could be written in place; empty where a part is replaced after the optimizer is made."""
    found = [(m, s) for m, c in constructions(project) if (s := m.statement(c)) is not None]
    replacements = (_replacement(facts, project, m, s) for m, s in found)
    return [] if any(r is not None for r in replacements) else restarts(facts, project)


def _in_place(project: Project, root: str, restarted: list[Restart]) -> Fix | None:
    edits = [replaced(r.module, r.statement, f"{r.target}.data.copy_({r.value})") for r in restarted]
    first = restarted[0]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Write the new values of {' and '.join(f'`{r.target}`' for r in restarted)} into the parameters that are there.",
        f"{first.module.site(first.statement)}: the optimizer goes on with the parameters that it holds.",
        "The optimizer keeps its moments: they are those of the values before.",
    )


def _remade(facts: Facts, project: Project, module: Module, made: ast.stmt) -> tuple[ast.stmt, bool] | None:
    """The replacement in another method, or deeper in the function, after which the optimizer is to be made once more."""
    parts = _parts(facts)
    return remade_after(
        module, made, lambda s: _assigns(s, parts) or _calls_one_that_assigns(project, s, parts)
    )


def _anew(
    project: Project, root: str, module: Module, made: ast.stmt, after: ast.stmt, may_stand: bool
) -> Fix | None:
    """The optimizer's own statement once more behind the replacement; None where its names mean nothing there."""
    edit = inserted_line_after(module, after, module.segment(made)) if may_stand else None
    if edit is None:
        return None
    site = module.site(after)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Make the optimizer anew after {site}, which gives the model other parameters.",
        f"{site}: the optimizer holds the parameters that the model runs with from there on.",
        "The new optimizer begins without state; a schedule that was made for the old one goes on with the old one.",
    )


def _late(facts: Facts, project: Project, module: Module, made: ast.stmt) -> _Late | None:
    """Where the optimizer of a statement belongs; None where that is in doubt."""
    after = _replacement(facts, project, module, made)
    if after is None or not isinstance(made, ast.Assign):
        return None
    belongs = _belonging(module, made, after)
    again = _used_between(module, made, after, belongs)
    return _Late(after, belongs, again) if belongs and not (again and _is_compound(after)) else None


def _is_compound(statement: ast.stmt) -> bool:
    """Whether other statements stand in it: the replacement is one of them, and what follows is not reached at once."""
    return hasattr(statement, "body")


def _belonging(module: Module, made: ast.Assign, after: ast.stmt) -> list[ast.Assign]:
    """The optimizer's statement, and the schedules that are made for it before the replacement; empty where it is in doubt."""
    name = module.segment(made.targets[0])
    block = _block(module, made)
    found = [made]
    for statement in block[block.index(made) + 1 : block.index(after)]:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            call, target = statement.value, statement.targets[0]
            given = [*call.args, *(k.value for k in call.keywords)]
            alone = len(statement.targets) == 1 and isinstance(target, (ast.Name, ast.Attribute))
            takes = any(module.segment(a) == name for a in given)
            if alone and takes and SCHEDULES.search(module.segment(call.func)):
                found.append(statement)
                continue
        stored = (n for n in ast.walk(statement) if isinstance(getattr(n, "ctx", None), ast.Store))
        if any(module.segment(n) == name for n in stored):
            return []
    return found


def _made(facts: Facts, project: Project) -> tuple[Module, ast.stmt] | None:
    """The statement that makes the optimizer: the only one, or the last one that a replacement follows."""
    found = [(m, s) for m, c in constructions(project) if (s := m.statement(c)) is not None]
    followed = [(m, s) for m, s in found if _replacement(facts, project, m, s) is not None]
    chosen = followed if len(found) > 1 else found
    return chosen[-1] if chosen else None


def _asked_for(project: Project, module: Module, made: ast.stmt) -> tuple[Module, ast.stmt] | None:
    """The one statement that calls the function, or builds the class, in which the optimizer is made."""
    function = module.function(made)
    if not isinstance(function, ast.FunctionDef):
        return None
    owner = module.method_class(function)
    if owner is not None and function.name != "__init__":
        return None
    name = owner.name if owner is not None else function.name
    found = [
        (m, s)
        for m in project.modules
        for c in m.nodes(ast.Call)
        if m.segment(c.func).rpartition(".")[2] == name and (s := m.statement(c)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _replacement(facts: Facts, project: Project, module: Module, made: ast.stmt) -> ast.stmt | None:
    """The last statement after it in its block that assigns such a part, itself or in the function it calls."""
    block, parts = _block(module, made), _parts(facts)
    later = block[block.index(made) + 1 :]
    found = [s for s in later if _assigns(s, parts) or _calls_one_that_assigns(project, s, parts)]
    return found[-1] if found else None


def _parts(facts: Facts) -> set[str]:
    """The names of the modules that the missing parameters are of."""
    return {p for m in facts.get("missing") or [] for p in str(m["name"]).split(".")[:-1]}


def _block(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands."""
    blocks = (b for b in vars(module.parents[statement]).values() if isinstance(b, list))
    return next((b for b in blocks if statement in b), [statement])


def _assigns(node: ast.AST, parts: set[str]) -> bool:
    targets = [
        t
        for n in ast.walk(node)
        if isinstance(n, (ast.Assign, ast.AugAssign))
        for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
    ]
    # Several may be assigned at once.
    each = [one for t in targets for one in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
    return any(isinstance(t, ast.Attribute) and t.attr in parts for t in each)


def _calls_one_that_assigns(project: Project, statement: ast.stmt, parts: set[str]) -> bool:
    if isinstance(statement, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
        return False
    names = {
        n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")
        for n in ast.walk(statement)
        if isinstance(n, ast.Call)
    }
    return any(
        f.name in names and f.name != "__init__" and _assigns(f, parts)
        for module in project.modules
        for f in module.nodes(ast.FunctionDef)
    )


def _used_between(module: Module, made: ast.Assign, after: ast.stmt, belongs: list[ast.Assign]) -> bool:
    """Whether anything but what was made for it speaks of the optimizer before the replacement."""
    name = module.segment(made.targets[0])
    scope = module.function(made) or module.tree
    mine = {n for s in belongs for n in ast.walk(s)}
    return any(
        isinstance(n, (ast.Name, ast.Attribute))
        and n not in mine
        and made.lineno < n.lineno <= (after.end_lineno or after.lineno)
        and module.segment(n) == name
        for n in ast.walk(scope)
    )
