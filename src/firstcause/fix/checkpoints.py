"""Both ends of a checkpoint: the dict that is saved, the statement that loads from it, and edits that add one entry to each.

Facts, as ``specialists/resumes`` gives them:

- ``save``, ``load``: the places of the call that writes the file and of the one that loads the weights.
- ``saves``, ``loads``, ``steps``: the frames around the save, the load and the first step after it, innermost first, each with
  its file, line and function, and the ``expression`` that names the missing thing there, or None.
- ``in_file``: whether the file holds it already.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import inserted_after
from firstcause.fix.statements import inserted_line_after, later_in_block, margin, starts_line
from firstcause.schema import Site
from firstcause.source import Module, Project
from firstcause.source.feeds import last_name
from firstcause.source.module import FUNCTIONS, FunctionNode


@dataclass(frozen=True)
class Written:
    """The dict that is saved, and what names the missing thing where it stands."""

    module: Module
    table: ast.Dict
    expression: str | None


@dataclass(frozen=True)
class Read:
    """The statement after which the missing thing can be loaded, what it is loaded from, and its name there."""

    module: Module
    after: ast.stmt
    source: str
    expression: str
    # The test under which something was read at all, where the thing is made outside of it.
    guard: str = ""


def save_line(facts: Facts, project: Project) -> Site | None:
    """The dict that is saved, where it is seen; else the call that saves."""
    found = written(facts, project)
    if found is not None:
        return found.module.site(found.table)
    return named_line(facts["save"], project) if facts.get("save") else None


def load_line(facts: Facts, project: Project) -> Site | None:
    """The call that loads the weights."""
    return named_line(facts["load"], project) if facts.get("load") else None


def line(facts: Facts, project: Project) -> Site | None:
    """The end of the checkpoint that leaves the thing out."""
    return load_line(facts, project) if facts.get("in_file") else save_line(facts, project)


def written(facts: Facts, project: Project) -> Written | None:
    """The dict literal that goes into the file: in the call, under a name, handed in by a caller, or returned to it."""
    for frame in facts.get("saves") or ():
        module = module_of(frame, project)
        if module is None:
            continue
        scope = _scope(module, int(frame["line"]))
        for node in module.nodes_on(int(frame["line"])):
            for argument in (
                [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else ()
            ):
                for owner, table in _tables(project, module, scope, argument):
                    if "state_dict" in owner.segment(table):
                        inside = _scope(owner, table.lineno)
                        return Written(owner, table, _named(project, facts["saves"], owner, inside, frame))
    return None


def _tables(
    project: Project, module: Module, scope: ast.AST, node: ast.expr, depth: int = 3
) -> Iterator[tuple[Module, ast.Dict]]:
    if isinstance(node, ast.Dict):
        yield module, node
    elif isinstance(node, ast.Name) and depth:
        for assign in (n for n in ast.walk(scope) if isinstance(n, ast.Assign)):
            if any(isinstance(t, ast.Name) and t.id == node.id for t in assign.targets):
                yield from _tables(project, module, scope, assign.value, depth - 1)
    elif isinstance(node, ast.Call) and depth:
        name = last_name(node.func)
        for other in project.modules:
            for function in other.nodes(ast.FunctionDef):
                if function.name == name:
                    for back in ast.walk(function):
                        if isinstance(back, ast.Return) and back.value is not None:
                            yield from _tables(project, other, function, back.value, depth - 1)


def _named(project: Project, frames: list[Facts], module: Module, scope: ast.AST, frame: Facts) -> str | None:
    """The expression of the frame whose function the dict stands in; what hangs on ``self`` is the same in each method."""
    for one in frames:
        if (
            module_of(one, project) is module
            and _scope(module, int(one["line"])) is scope
            and one.get("expression")
        ):
            return str(one["expression"])
    own = str(frame.get("expression") or "")
    return own if own.startswith("self.") and module.method_class(scope) is not None else None


def read(facts: Facts, project: Project) -> Read | None:
    """Where the weights are loaded from an entry of what was read, or the thing is made after that."""
    found = _loading(facts, project)
    if found is None:
        return None
    module, statement, source, frame = found
    scope = _scope(module, statement.lineno)
    if frame.get("expression"):
        return Read(module, _last_load(module, statement), source, str(frame["expression"]))
    for step in facts.get("steps") or ():
        expression = step.get("expression")
        if expression and module_of(step, project) is module and _scope(module, int(step["line"])) is scope:
            made = [
                n
                for n in ast.walk(scope)
                if isinstance(n, ast.Assign)
                and n.lineno > statement.lineno
                and any(ast.unparse(t) == expression for t in n.targets)
            ]
            guard = _guard(module, statement, made[0]) if len(made) == 1 else None
            if guard is not None:
                return Read(module, made[0], source, str(expression), guard)
    return None


def _last_load(module: Module, statement: ast.stmt) -> ast.stmt:
    """The last of the statements that load one after the other; one that shares its line cannot be followed."""
    last = statement
    for one in later_in_block(module, statement):
        if "load_state_dict(" not in module.segment(one) and one.lineno != last.lineno:
            break
        last = one
    return last


def _guard(module: Module, statement: ast.stmt, made: ast.stmt) -> str | None:
    """The test that the load stands under and ``made`` does not; empty where there is none, None where there are several."""
    around = [
        a for a in module.ancestors(statement) if isinstance(a, ast.stmt) and not isinstance(a, FUNCTIONS)
    ]
    own = [a for a in around if a not in module.ancestors(made) and not isinstance(a, ast.ClassDef)]
    if not own:
        return ""
    only = own[0]
    return (
        module.segment(only.test)
        if len(own) == 1 and isinstance(only, ast.If) and statement in only.body
        else None
    )


def _loading(facts: Facts, project: Project) -> tuple[Module, ast.stmt, str, Facts] | None:
    """The statement that loads the weights, the text of the table that they are taken from, and its frame."""
    for frame in facts.get("loads") or ():
        module = module_of(frame, project)
        for node in module.nodes_on(int(frame["line"])) if module is not None else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            given = node.args[0]
            statement = module.statement(node) if module is not None else None
            if (
                node.func.attr == "load_state_dict"
                and isinstance(given, ast.Subscript)
                and module
                and statement
            ):
                return module, statement, module.segment(given.value), frame
    return None


def key_of(found: Written, expression: str) -> str | None:
    """The key under which the dict holds ``expression.state_dict()`` already."""
    for key, value in zip(found.table.keys, found.table.values, strict=True):
        if isinstance(key, ast.Constant) and found.module.segment(value).startswith(expression + "."):
            return str(key.value)
    return None


def new_key(found: Written, wanted: str) -> str:
    """A key that the dict does not have."""
    taken = {str(k.value) for k in found.table.keys if isinstance(k, ast.Constant)}
    return wanted if wanted not in taken else f"{wanted}_state"


def added_entry(found: Written, key: str, value: str) -> Edit:
    """An edit that gives the dict one more entry, on a line of its own where each of them has one."""
    last, table = found.table.values[-1], found.table
    spread = len({v.lineno for v in table.values}) == len(table.values) > 1
    first = table.keys[0]
    indent = " " * first.col_offset if spread and first is not None else ""
    return inserted_after(
        found.module, last, f',\n{indent}"{key}": {value}' if spread else f', "{key}": {value}'
    )


def loaded(found: Read, statements: list[str]) -> list[Edit] | None:
    """Edits that put statements after the loading; None where it shares its line with another one."""
    if found.guard:
        indent = " " * (found.after.col_offset + 4)
        statements = ["\n".join([f"if {found.guard}:", *(indent + text for text in statements)])]
    module, after = found.module, found.after
    if not starts_line(module, after) and module.lines[after.lineno - 1].endswith("\n"):
        # Several statements in one line: theirs is the depth of the first.
        indent, end = margin(module, after), ((after.end_lineno or after.lineno) + 1, 0)
        return [Edit(module.path, end, end, f"{indent}{text}\n") for text in statements]
    edits = [inserted_line_after(module, after, text) for text in statements]
    return None if any(e is None for e in edits) else [e for e in edits if e is not None]


def _scope(module: Module, number: int) -> FunctionNode | ast.Module:
    nodes = module.nodes_on(number)
    return (module.function(nodes[-1]) if nodes else None) or module.tree
