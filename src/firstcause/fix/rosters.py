"""A table of the parts of a training that is written out once, and walked through by what saves and by what loads.

``self.parts = {"net": self.net, "opt": self.opt}``: what is missing in the file is missing here, and one entry mends both ends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.fix.checkpoints import Written, added_entry, new_key, written
from firstcause.fix.checkpoints import line as end
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.feeds import last_name
from firstcause.source.module import FUNCTIONS, within

METHODS = ("state_dict", "load_state_dict")


@dataclass(frozen=True)
class Roster:
    """The dict that names the parts, and the text by which it is walked through."""

    module: Module
    table: ast.Dict
    walked: str


def roster(facts: Facts, project: Project) -> Roster | None:
    """The one dict whose parts the saving function asks for their states."""
    for frame in facts.get("saves") or ():
        module = module_of(frame, project)
        nodes = module.nodes_on(int(frame["line"])) if module is not None else []
        scope = module.function(nodes[-1]) if module is not None and nodes else None
        if module is None or scope is None:
            continue
        walked = {module.segment(over) for over in _walked(scope, "state_dict")}
        tables = [t for text in walked for t in _tables(module, scope, text)]
        if len(walked) == len(tables) == 1:
            return Roster(module, tables[0], walked.pop())
    return None


def line(facts: Facts, project: Project) -> Site | None:
    """The end of the checkpoint that leaves the thing out: the table of parts where there is one."""
    if not facts.get("in_file") and written(facts, project) is None:
        found = roster(facts, project)
        if found is not None:
            return found.module.site(found.table)
    return end(facts, project)


def entered(facts: Facts, project: Project, root: str, cause: str, key: str, other: str) -> Fix | None:
    """The fix by one entry more; None where the loading does not go through the same table, or the thing is made after it."""
    found = roster(facts, project)
    expression = _expression(facts)
    if found is None or facts.get("in_file") or not expression.startswith("self."):
        return None
    if not _loads_through(facts, project, found) or not _made_before(found, expression) or _is_shared(found):
        return None
    parts = Written(found.module, found.table, expression)
    name = new_key(parts, key)
    at = found.module.site(found.table)
    return draft(
        project,
        root,
        cause,
        [added_entry(parts, name, expression)],
        f"Name it among the parts at {at}: `{name!r}: {expression}` is then saved and loaded with the others.",
        f"A resumed training goes on as the straight one does; files that were saved before {at} was changed lack the entry.",
        other,
    )


def _walked(scope: ast.AST, method: str) -> Iterator[ast.expr]:
    """What is gone through by ``.items()`` or ``.values()`` where each part's ``method`` is called."""
    for node in within(scope):
        if isinstance(node, (ast.DictComp, ast.ListComp, ast.GeneratorExp)):
            if node.generators[0].ifs:
                # Some parts alone are asked.
                continue
            target, over, body = node.generators[0].target, node.generators[0].iter, [node]
        elif isinstance(node, ast.For):
            target, over, body = node.target, node.iter, node.body  # type: ignore[assignment]
        else:
            continue
        if any(isinstance(n, ast.If) for part in body for n in within(part)):
            continue
        names = {n.id for n in within(target) if isinstance(n, ast.Name)}
        calls = (n for part in body for n in within(part) if isinstance(n, ast.Call))
        asked = any(
            isinstance(c.func, ast.Attribute) and c.func.attr == method and last_name(c.func.value) in names
            for c in calls
        )
        if asked and isinstance(over, ast.Call) and last_name(over.func) in ("items", "values"):
            assert isinstance(over.func, (ast.Attribute, ast.Name))
            if isinstance(over.func, ast.Attribute):
                yield over.func.value


def _tables(module: Module, scope: ast.AST, text: str) -> list[ast.Dict]:
    """The dicts that are given to that name, in the class for what hangs on ``self``, else in the function or the file."""
    where = module.method_class(scope) if text.startswith("self.") else scope
    places = [where] if where is not None else []
    if not text.startswith("self."):
        places.append(module.tree)
    return [
        n.value
        for place in places
        for n in within(place)
        if isinstance(n, (ast.Assign, ast.AnnAssign))
        and isinstance(n.value, ast.Dict)
        and any(module.segment(t) == text for t in (n.targets if isinstance(n, ast.Assign) else [n.target]))
    ]


def _expression(facts: Facts) -> str:
    return next((str(f["expression"]) for f in facts.get("saves") or () if f.get("expression")), "")


def _loads_through(facts: Facts, project: Project, found: Roster) -> bool:
    for frame in facts.get("loads") or ():
        module = module_of(frame, project)
        nodes = module.nodes_on(int(frame["line"])) if module is not None else []
        scope = module.function(nodes[-1]) if module is not None and nodes else None
        if module is found.module and scope is not None:
            return found.walked in {module.segment(over) for over in _walked(scope, "load_state_dict")}
    return False


def _is_shared(found: Roster) -> bool:
    """Whether more is done with the table than to save and to load: what walks through it may not bear another part."""
    module = found.module
    named: list[ast.Attribute | ast.Name] = [*module.nodes(ast.Attribute), *module.nodes(ast.Name)]
    uses = [n for n in named if isinstance(n.ctx, ast.Load) and module.segment(n) == found.walked]
    scopes = {module.function(n) for n in uses}
    return any(
        scope is None
        or not any(found.walked in {module.segment(o) for o in _walked(scope, m)} for m in METHODS)
        for scope in scopes
    )


def _made_before(found: Roster, expression: str) -> bool:
    """Whether the thing is there when the table is written: its last assignment in the function stands before, as plain as it."""
    scope = next((a for a in found.module.ancestors(found.table) if isinstance(a, FUNCTIONS)), None)
    given = [
        n
        for n in (within(scope) if scope is not None else ())
        if isinstance(n, ast.Assign) and any(found.module.segment(t) == expression for t in n.targets)
    ]
    last = max(given, key=lambda n: n.lineno, default=None)
    return (
        last is not None
        and last.lineno < found.table.lineno
        and found.module.parents.get(last) is scope
        and not (isinstance(last.value, ast.Constant) and last.value.value is None)
    )
