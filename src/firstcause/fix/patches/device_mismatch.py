"""An operand on another device than the rest: the line that makes it.

Facts:

- ``file``, ``line``: the user's line that raised; ``device``: of the operand that is apart.
- ``classes``: of the modules around a parameter that lies on meta, and its own.
- ``birth``: ``kind`` ``call`` (``at``), ``state`` (``class_name``, ``name``) or ``data`` (``at``, ``name``).
"""

from __future__ import annotations

import ast

from firstcause.fix.arrivals import common, ways
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.states import State, states
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name

CAUSE = "device-mismatch"


def line(facts: Facts, project: Project) -> Site | None:
    """The buffer's registration, the call that makes the tensor, or the place that the data's ways share last.

    Of a library's parameter on meta, the one block that makes modules there.
    """
    birth = facts.get("birth") or {}
    if birth.get("kind") == "state":
        found = _states(facts, project)
        if found:
            return found[0].module.site(found[0].node)
        built = _built_on_meta(project, facts.get("classes") or []) if facts.get("device") == "meta" else []
        return built[0] if len(built) == 1 else None
    at = birth.get("at") or {}
    if birth.get("kind") == "call":
        return named_line(at, project)
    shared = common(ways(project, at, str(birth.get("name") or "")))
    return shared[-1].site if shared else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A buffer that stayed on meta because no checkpoint holds it: made persistent. None for all else."""
    found = _states(facts, project) if facts.get("device") == "meta" else []
    if len(found) != 1 or not _loads_by_assignment(project):
        return None
    edit = _persistent(found[0])
    if edit is None:
        return None
    site, name = found[0].module.site(found[0].node), (facts.get("birth") or {}).get("name")
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Keep the buffer `{name}` at {site} in the state_dict: it is not, so loading leaves it on meta.",
        f"{site}: `{name}` is persistent, part of every checkpoint, and filled from it.",
        "Checkpoints that were saved before: they do not hold the buffer, and loading them says so.",
    )


def _built_on_meta(project: Project, classes: list[str]) -> list[Site]:
    """The first statement of each block that makes a module of one of the classes without memory."""
    modules = project.modules
    if any(_is_put_there(call) for m in modules for call in m.nodes(ast.Call)):
        # By an argument or a move: which of the two made it is not known.
        return []
    return [
        module.site(node.body[0])
        for module in modules
        for node in module.nodes(ast.With)
        if any(_is_meta(item.context_expr) for item in node.items)
        and any(
            last_name(c.func) in classes for s in node.body for c in ast.walk(s) if isinstance(c, ast.Call)
        )
    ]


def _is_put_there(call: ast.Call) -> bool:
    """``device="meta"`` and ``.to("meta")``."""
    given = [k.value for k in call.keywords if k.arg == "device"]
    given += call.args[:1] if isinstance(call.func, ast.Attribute) and call.func.attr == "to" else []
    return any(isinstance(g, ast.Constant) and g.value == "meta" for g in given)


def _is_meta(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    device = node.args[0] if node.args else None
    name = last_name(node.func)
    return name == "init_empty_weights" or (
        name == "device" and isinstance(device, ast.Constant) and device.value == "meta"
    )


def _states(facts: Facts, project: Project) -> list[State]:
    birth = facts.get("birth") or {}
    if birth.get("kind") != "state":
        return []
    return states(project, str(birth.get("class_name") or ""), str(birth.get("name") or ""))


def _persistent(state: State) -> Edit | None:
    """The edit that takes ``persistent=False`` out of a registration."""
    if not isinstance(state.node, ast.Call):
        return None
    given = next((k for k in state.node.keywords if k.arg == "persistent"), None)
    if given is None or not isinstance(given.value, ast.Constant) or given.value.value is not False:
        return None
    module = state.module
    before = max(
        module.span(a)[1] for a in (*state.node.args, *(k for k in state.node.keywords if k is not given))
    )
    end = module.span(given)[1]
    return Edit(module.path, module.position(before), module.position(end), "") if before < end else None


def _loads_by_assignment(project: Project) -> bool:
    return any(_assigns(module) for module in project.modules)


def _assigns(module: Module) -> bool:
    calls = [
        n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    ]
    loads = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "load_state_dict"]
    return any(
        k.arg == "assign" and isinstance(k.value, ast.Constant) and k.value.value
        for c in loads
        for k in c.keywords
    )
