"""A resume at another place than the file was saved at: the position is read one further, or the counter is kept.

Facts: ``keys``, the names of positions in the file, ``shift``, by how much it is to be moved, and ``loads``, the frames around
the load; or those of ``fix/checkpoints`` for a counter that an object of the program holds.
"""

from __future__ import annotations

import ast

from firstcause.fix.checkpoints import added_entry, load_line, new_key, read, written
from firstcause.fix.checkpoints import line as line_of
from firstcause.fix.draft import draft
from firstcause.fix.kept_states import made
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.rewrite import plus
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "step-counter-not-restored"


def line(facts: Facts, project: Project) -> Site | None:
    """Where the position is read from the file; else the load, or the dict that is saved without the counter."""
    if "kind" in facts:
        return line_of(facts, project)
    found = _read(facts, project)
    return found[0].site(found[1]) if found is not None else load_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The position moved by one where it is read, or the counter saved and loaded; None where neither is seen."""
    if "kind" in facts:
        return _kept(facts, project, root)
    found = _read(facts, project)
    if found is None or not facts.get("shift"):
        return None
    module, node = found
    site = module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        plus(module, node, int(facts["shift"])),
        f"Go on {int(facts['shift']):+d} from the position that the file holds, at {site}.",
        f"{site}: no step is trained on twice, and none is left out.",
        "Files that were saved in the middle of an epoch.",
    )


def _kept(facts: Facts, project: Project, root: str) -> Fix | None:
    saves, loads = written(facts, project), read(facts, project)
    if saves is None or loads is None or saves.expression is None or facts.get("in_file"):
        return None
    key = new_key(saves, str(facts.get("name")).rpartition(".")[2])
    text = f'{loads.expression} = {loads.source}["{key}"]'
    entry = [added_entry(saves, key, saves.expression)]
    other = "The position of the data, where the program does not count it."
    return made(project, root, CAUSE, (saves, loads), entry, [text], other)


def _read(facts: Facts, project: Project) -> tuple[Module, ast.expr] | None:
    """The one expression that reads a position from the file, near the load."""
    for frame in facts.get("loads") or ():
        module = module_of(frame, project)
        nodes = module.nodes_on(int(frame["line"])) if module is not None else []
        scope = (module.function(nodes[-1]) or module.tree) if module is not None and nodes else None
        if module is None or scope is None:
            continue
        found = [n for n in ast.walk(scope) if isinstance(n, ast.expr) and _key(n) in facts.get("keys", ())]
        if len(found) == 1:
            return module, found[0]
    return None


def _key(node: ast.expr) -> str | None:
    """The key of ``x["key"]`` that is read, or of ``x.get("key")``."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return (
            node.slice.value
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            else None
        )
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and node.args
    ):
        first = node.args[0]
        return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
    return None
