"""Hooks pile up: what one call of the function registers is removed at that function's end.

Facts:

- ``file``, ``line`` and the columns: the call that registers.
- ``callers``: the places that were running around it, innermost first.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.statements import blocks_of, inserted_line_after, inserted_line_before, later_in_block
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "forward-hooks-never-removed"
LOOPS = (ast.For, ast.While)


def line(facts: Facts, project: Project) -> Site | None:
    """The call that registers."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Remove the hooks where what they were registered for is over; None where that end is not seen in the source."""
    found = statement_of(facts, project)
    call = _registration(*found) if found is not None else None
    if found is None or call is None:
        return None
    module, statement = found
    edits = _of_object(module, call, facts, project) or _of_block(module, statement, call)
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Remove the hooks that {site} registers once they have been used.",
        "Each hook is called for as long as it is meant, and what it stores is let go of with it.",
        "A hook that is meant to stay must be registered once, outside of what is repeated.",
    )


def _registration(module: Module, statement: ast.stmt) -> ast.Call | None:
    found = [
        n
        for n in ast.walk(statement)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr.startswith("register_")
        and n.func.attr.endswith("hook")
    ]
    return found[0] if len(found) == 1 else None


def _of_block(module: Module, statement: ast.stmt, call: ast.Call) -> list[Edit]:
    """``handle = ...`` and its removal at the end of the block; none where the handle is kept or the block goes on elsewhere."""
    is_plain = isinstance(statement, ast.Expr) and statement.value is call
    name = "handle"
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return []
        name = target.id
    elif not is_plain:
        return []
    after = later_in_block(module, statement)
    loop = module.parents.get(statement)
    names = {n.id for n in ast.walk(module.tree) if isinstance(n, ast.Name)}
    if isinstance(loop, LOOPS) and not after:
        # One hook a layer: they are gathered, and removed behind what follows the loop.
        return _of_loop(module, statement, call, loop, names)
    if not after:
        return []
    name = name if not is_plain or name not in names else f"{name}_of_hook"
    first = [replaced(module, call, f"{name} = {module.segment(call)}")] if is_plain else []
    end = _at_end(module, after, f"{name}.remove()")
    return [*first, end] if end is not None else []


def _of_loop(
    module: Module, statement: ast.stmt, call: ast.Call, loop: ast.stmt, names: set[str]
) -> list[Edit]:
    outer = loop
    while isinstance(module.parents.get(outer), (*LOOPS, ast.If)) and _is_last(module, outer):
        above = module.parents[outer]
        assert isinstance(above, ast.stmt)
        outer = above
    after = later_in_block(module, outer)
    name = "handles" if "handles" not in names else "handles_of_hooks"
    before = inserted_line_before(module, outer, f"{name} = []")
    end = _at_end(module, after, f"for handle in {name}: handle.remove()") if after else None
    if before is None or end is None or not isinstance(statement, ast.Expr):
        return []
    return [before, replaced(module, call, f"{name}.append({module.segment(call)})"), end]


def _of_object(module: Module, call: ast.Call, facts: Facts, project: Project) -> list[Edit]:
    """Where the handles are kept in a list of an object that a function makes for itself: removed at that function's end."""
    kept = module.parents.get(call)
    if (
        not isinstance(kept, ast.Call)
        or not isinstance(kept.func, ast.Attribute)
        or kept.func.attr != "append"
    ):
        return []
    store = kept.func.value
    owner = next((c for c in module.ancestors(call) if isinstance(c, ast.ClassDef)), None)
    if not isinstance(store, ast.Attribute) or not isinstance(store.value, ast.Name) or owner is None:
        return []
    for place in facts.get("callers") or ():
        found = statement_of(place, project)
        if found is None or not isinstance(found[1], ast.Assign) or len(found[1].targets) != 1:
            continue
        target, value = found[1].targets[0], found[1].value
        makes = isinstance(value, ast.Call) and isinstance(value.func, (ast.Name, ast.Attribute))
        if not isinstance(target, ast.Name) or not makes:
            continue
        after = later_in_block(*found)
        text = f"for handle in {target.id}.{store.attr}: handle.remove()"
        end = _at_end(found[0], after, text) if after else None
        if end is not None:
            return [end]
    return []


def _at_end(module: Module, after: list[ast.stmt], text: str) -> Edit | None:
    """The text behind the last statement of a block, or before it where it leaves the block."""
    last = after[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        if (
            isinstance(last, ast.Return)
            and any(isinstance(n, ast.Call) for n in ast.walk(last))
            and len(after) == 1
        ):
            # What is returned may be what the hooks are for.
            return None
        return inserted_line_before(module, last, text)
    return inserted_line_after(module, last, text)


def _is_last(module: Module, statement: ast.stmt) -> bool:
    return any(b and b[-1] is statement for b in blocks_of(module.parents.get(statement)))
