"""The statement that binds a tensor which came into an iteration, found from the names that the run saw it under."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.fix.operations import Facts
from firstcause.source import Module, Project


@dataclass(frozen=True, eq=False)
class Binding:
    """A statement that binds a name or attribute, the loop of the iteration where both stand in one file, and the name."""

    module: Module
    statement: ast.stmt
    loop: ast.stmt | None
    name: str


def binding_of(facts: Facts, project: Project) -> Binding | None:
    """The nearest statement to the loop that binds what the outermost holder names; before it for an older graph."""
    carried = facts.get("age") != "before the loop"
    for holder in facts.get("holders") or []:
        if holder.get("attribute"):
            found = attribute_binding(project, str(holder.get("class")), str(holder["attribute"]))
        else:
            found = _of_name(holder, facts, project, carried)
        if found is not None:
            return found
    return None


def _of_name(holder: Facts, facts: Facts, project: Project, carried: bool) -> Binding | None:
    module = project.module(str(holder["file"]))
    if module is None:
        return None
    scope = _scope(module, holder)
    name = str(holder["name"])
    loop = _loop(facts, project, module)
    bound = [s for s in _statements(module, scope) if _binds(s, name)]
    if not bound and scope is not module.tree:
        # A variable of the file that the function only reads.
        bound = [s for s in _statements(module, module.tree) if _binds(s, name)]
    if loop is not None:
        first, last = loop.lineno, loop.end_lineno or loop.lineno
        inside = [s for s in bound if first < s.lineno <= last]
        before = [s for s in bound if s.lineno < first]
        bound = inside if carried and inside else before or inside
    return Binding(module, bound[-1], loop, name) if bound else None


def attribute_binding(project: Project, class_name: str, attribute: str) -> Binding | None:
    """The assignment of an attribute, where one alone assigns anything but None to it, or makes it of itself."""
    found: list[Binding] = []
    for module in project.modules:
        for cls in ast.walk(module.tree):
            if isinstance(cls, ast.ClassDef) and cls.name == class_name:
                found += [
                    Binding(module, s, None, attribute)
                    for s in ast.walk(cls)
                    if isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr))
                    and _gives(s, attribute)
                ]
    if len(found) > 1:
        # What hands the old value on to the new one carries it; the others only begin.
        found = [b for b in found if any(_is_attribute(n, attribute) for n in ast.walk(_value(b.statement)))]
    return found[0] if len(found) == 1 else None


def _value(statement: ast.stmt) -> ast.AST:
    value = None if isinstance(statement, ast.Expr) else getattr(statement, "value", None)
    return value if isinstance(value, ast.AST) else ast.Pass()


def _gives(statement: ast.stmt, attribute: str) -> bool:
    """``self.attribute = ...`` of something, an item of it included, or ``self.attribute.append(...)``."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and (
                (
                    call.func.attr in ("append", "update", "extend")
                    and _is_attribute(call.func.value, attribute)
                )
                or (call.func.attr == "register_buffer" and _names(call, attribute))
            )
        )
    value = getattr(statement, "value", None)
    is_empty = isinstance(value, (ast.List, ast.Dict, ast.Tuple)) and not getattr(value, "elts", None)
    if value is None or isinstance(value, ast.Constant) or is_empty:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(
        _is_attribute(t, attribute) for target in targets if target is not None for t in ast.walk(target)
    )


def _names(call: ast.Call, attribute: str) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == attribute


def _is_attribute(node: ast.AST, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = list(statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target]
    else:
        return False
    stored = [n for t in targets for n in ast.walk(t)]
    return any(isinstance(n, ast.Name) and n.id == name for n in stored)


def _scope(module: Module, holder: Facts) -> ast.AST:
    """The function of a frame, by its name and the lines around the running one; else the file."""
    line = int(holder["line"])
    found = [
        n
        for n in ast.walk(module.tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        and n.name == holder.get("function")
        and n.lineno <= line <= (n.end_lineno or line)
    ]
    return found[-1] if found else module.tree


def _statements(module: Module, scope: ast.AST) -> Iterator[ast.stmt]:
    own = None if scope is module.tree else scope
    found = [n for n in ast.walk(scope) if isinstance(n, ast.stmt) and module.function(n) is own]
    yield from sorted(found, key=lambda n: n.lineno)


def _loop(facts: Facts, project: Project, module: Module) -> ast.stmt | None:
    place = facts.get("loop") or {}
    if not place.get("file") or project.module(str(place["file"])) is not module:
        return None
    loops = [n for n in ast.walk(module.tree) if isinstance(n, (ast.For, ast.While, ast.AsyncFor))]
    return next((n for n in loops if n.lineno == place.get("line")), None)
