"""The classes of the project: their bases, methods, fields, and the assignments to their attributes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.definitions import Definition, Wanted, may_bind, own_bindings
from firstcause.source.module import FUNCTIONS, FunctionNode, Module, children, kept, within
from firstcause.source.project import Project
from firstcause.source.resolve import Defined, external, resolve

Method = ast.FunctionDef | ast.AsyncFunctionDef
DATACLASS = (
    "dataclasses.dataclass",
    "attr.s",
    "attr.define",
    "attrs.define",
    "attrs.frozen",
    "attr.dataclass",
)
FIELD_BASES = ("typing.NamedTuple", "pydantic.BaseModel", "pydantic_settings.BaseSettings")
PROPERTIES = ("property", "cached_property", "functools.cached_property")


@dataclass(frozen=True, eq=False)
class Assigned:
    """An assignment to an attribute of ``self``: the class, the method, and what is assigned."""

    module: Module
    cls: ast.ClassDef
    method: Method
    holder: ast.Attribute
    definition: Definition


def lineage(project: Project, module: Module, cls: ast.ClassDef) -> list[Defined]:
    """A class and its bases within the project, nearest first."""
    known: dict[ast.AST, list[Defined]] = project.memory.setdefault("lineages", {})
    if cls not in known:
        known[cls] = _lineage(project, module, cls)
    return known[cls]


def _lineage(project: Project, module: Module, cls: ast.ClassDef) -> list[Defined]:
    found: list[Defined] = []
    waiting: list[Defined] = [Defined(module, cls)]
    while waiting and len(found) < 20:
        current = waiting.pop(0)
        if any(current.node is f.node for f in found) or not isinstance(current.node, ast.ClassDef):
            continue
        found.append(current)
        bases = [resolve(project, current.module, base) for base in current.node.bases]
        waiting = [b for b in bases if isinstance(b, Defined)] + waiting
    return found


def external_bases(project: Project, module: Module, cls: ast.ClassDef) -> list[str]:
    """The library classes that a class derives from, by their dotted names."""
    found = []
    for part in lineage(project, module, cls):
        assert isinstance(part.node, ast.ClassDef)
        found += [external(resolve(project, part.module, _plain(base))) for base in part.node.bases]
    return [name for name in found if name]


def _plain(base: ast.expr) -> ast.expr:
    # Generic[T], Dataset[int]: the class is what is subscripted.
    return base.value if isinstance(base, ast.Subscript) else base


def subclasses(project: Project, cls: ast.ClassDef) -> list[Defined]:
    """The project's classes that derive from a class."""
    derived: dict[ast.AST, list[Defined]] | None = project.memory.get("subclasses")
    if derived is None:
        derived = {}
        for module in project.modules:
            for node in module.nodes(ast.ClassDef):
                if node.bases:
                    for part in lineage(project, module, node)[1:]:
                        derived.setdefault(part.node, []).append(Defined(module, node))
        project.memory["subclasses"] = derived
    return derived.get(cls, [])


def own_method(cls: ast.ClassDef, name: str) -> Method | None:
    """The last definition of a method in a class body, conditional ones included."""
    return kept(cls, "methods", lambda: {m.name: m for m in _own_methods(cls)}).get(name)


def _own_methods(cls: ast.ClassDef) -> list[Method]:
    found: list[Method] = []
    waiting: list[ast.AST] = list(reversed(cls.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Method):
            found.append(node)
        elif isinstance(node, (ast.If, ast.Try)):
            waiting += reversed(children(node))
    return found


def method(project: Project, module: Module, cls: ast.ClassDef, name: str) -> Defined | None:
    """The method that a class has by a name, its own or inherited."""
    for part in lineage(project, module, cls):
        assert isinstance(part.node, ast.ClassDef)
        own = own_method(part.node, name)
        if own is not None:
            return Defined(part.module, own, part.node)
    return None


def decorators(project: Project, module: Module, node: Method | ast.ClassDef) -> list[str]:
    """The decorators of a function or class, by dotted name without ``builtins.``."""
    names = []
    for decorator in node.decorator_list:
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.append(external(resolve(project, module, plain)).removeprefix("builtins."))
    return names


def implicit(project: Project, found: Defined) -> int:
    """1 where a method's first parameter is given by the object or the class, 0 for functions and static methods."""
    return kept(found.node, "implicit", lambda: _implicit(project, found))


def _implicit(project: Project, found: Defined) -> int:
    scope = found.module.parents.get(found.node)
    while scope is not None and not isinstance(scope, (*FUNCTIONS, ast.ClassDef)):
        scope = found.module.parents.get(scope)
    if isinstance(found.node, ast.ClassDef) or not isinstance(scope, ast.ClassDef):
        return 0
    return 0 if "staticmethod" in decorators(project, found.module, found.node) else 1


def self_name(project: Project, module: Module, function: FunctionNode | None) -> str | None:
    """The name of the first parameter of a method, the object itself."""
    if function is None or isinstance(function, ast.Lambda):
        return None
    return kept(function, "self name", lambda: _self_name(project, module, function))


def _self_name(project: Project, module: Module, function: Method) -> str | None:
    parameters = [*function.args.posonlyargs, *function.args.args]
    if not parameters or not implicit(project, Defined(module, function)):
        return None
    return parameters[0].arg


def assigned(project: Project, part: Defined, attribute: str) -> list[Assigned]:
    """The assignments to ``self.attribute`` in the methods of one class, in the order of the text."""
    known: dict[str, list[Assigned]] = kept(part.node, "assigned", dict)
    if attribute not in known:
        known[attribute] = _assigned(project, part, attribute)
    return known[attribute]


def _assigned(project: Project, part: Defined, attribute: str) -> list[Assigned]:
    cls = part.node
    assert isinstance(cls, ast.ClassDef)
    found = []
    for node in kept(cls, "own methods", lambda: _own_methods(cls)):
        own = self_name(project, part.module, node)
        if own is None or not may_bind(node, Wanted(own, attribute)):
            continue
        for definition in every_assignment(node, Wanted(own, attribute)):
            holder = ast.Attribute(ast.Name(own, ast.Load()), attribute, ast.Load())
            found.append(Assigned(part.module, cls, node, holder, definition))
    return sorted(found, key=lambda a: getattr(a.definition.node, "lineno", 0))


def every_assignment(function: Method, wanted: Wanted) -> list[Definition]:
    """All assignments in a function, those included that a later one overwrites."""
    statements = kept(
        function, "statements", lambda: [n for n in within(function) if isinstance(n, ast.stmt)]
    )
    return [d for node in statements if may_bind(node, wanted) for d in own_bindings(node, wanted)]


def class_value(part: Defined, name: str) -> ast.expr | None:
    """What a class body assigns to a name."""
    assert isinstance(part.node, ast.ClassDef)
    for statement in reversed(part.node.body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id == name
        ):
            return statement.value
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in statement.targets
        ):
            return statement.value
    return None


def fields(project: Project, module: Module, cls: ast.ClassDef) -> list[str] | None:
    """The fields of a dataclass or its kin in the order of its constructor, or None for another class."""
    parts = [p for p in reversed(lineage(project, module, cls)) if isinstance(p.node, ast.ClassDef)]
    is_fielded = any(
        name in DATACLASS
        for p in parts
        if isinstance(p.node, ast.ClassDef)
        for name in decorators(project, p.module, p.node)
    ) or any(base in FIELD_BASES for base in external_bases(project, module, cls))
    if not is_fielded:
        return None
    names = [
        s.target.id
        for p in parts
        if isinstance(p.node, ast.ClassDef)
        for s in p.node.body
        if isinstance(s, ast.AnnAssign)
        and isinstance(s.target, ast.Name)
        and "ClassVar" not in ast.dump(s.annotation)
    ]
    return list(dict.fromkeys(names))
