"""The code as rules ask for it: calls by resolved name, methods, classes, loops, values with where they come from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeGuard

from firstcause.check.constants import Constant, constant, text_of
from firstcause.check.held import Held
from firstcause.check.library_names import shortest
from firstcause.schema.finding import Category, Finding
from firstcause.schema.instruction import Instruction
from firstcause.schema.site import Site
from firstcause.source.arguments import argument, spread
from firstcause.source.callees import callees
from firstcause.source.callsites import call_index
from firstcause.source.classes import external_bases
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.module import FUNCTIONS, Module, children, kept
from firstcause.source.project import Project
from firstcause.source.resolve import Defined, external, resolve, root_of, roots_of
from firstcause.source.values import PROCESSES
from firstcause.source.walk import Origin

Looping = ast.For | ast.AsyncFor | ast.While


# Nobody changes one; a frozen class takes four times as long to make.
@dataclass(eq=False)
class Call:
    """A call in the code: ``name`` is the library's dotted name, or ``.attr`` for a method of an unknown object."""

    code: Code
    module: Module
    node: ast.Call
    name: str

    @property
    def site(self) -> Site:
        return self.module.site(self.node)

    @property
    def receiver(self) -> ast.expr | None:
        """What a method is called on."""
        return self.node.func.value if isinstance(self.node.func, ast.Attribute) else None

    def argument(self, name: str, position: int | None = None) -> Value | None:
        """An argument by its name or its 0-based position; None where the call does not surely give it."""
        given = argument(self.node, position, name)
        if given is None:
            return None
        value = Value(self.module, given.node, None, given.path)
        if given.sure:
            return value
        # What ``**`` brings in is given where the mapping is known and holds the name.
        several = [Value(self.module, g.node, None, g.path) for g in spread(self.node, name)]
        return next((v for v in [value, *several] if constant(self.code.project, v) is not None), None)

    def constant(self, name: str, position: int | None = None) -> Constant | None:
        """The value of an argument where the code alone says it."""
        value = self.argument(name, position)
        return constant(self.code.project, value) if value is not None else None

    def may_have(self, name: str) -> bool:
        """Whether the call gives an argument, or may: through ``**`` of something."""
        return any(k.arg in (name, None) for k in self.node.keywords)

    def gives(self, name: str) -> bool:
        """The same, with every ``**`` looked into whose mapping is written out, in the code or in a config file."""
        return any(
            k.arg == name or (k.arg is None and self._mapping_may_have(k.value, name))
            for k in self.node.keywords
        )

    def _mapping_may_have(self, node: ast.expr, name: str) -> bool:
        found = self.code.origins(self.module, node)
        for origin in found:
            keys = origin.node.keys if isinstance(origin.node, ast.Dict) else [None]
            if any(not isinstance(k, ast.Constant) or k.value == name for k in keys):
                return True
        return not found

    @property
    def loop(self) -> Loop | None:
        """The innermost loop whose body holds the call, within its function."""
        return self.code.loop_around(self.module, self.node)


@dataclass(eq=False)
class Loop:
    """A ``for`` or ``while`` statement."""

    module: Module
    node: Looping

    @property
    def nodes(self) -> Iterator[ast.AST]:
        """Every node of the body, nested functions left out."""
        return iter(kept(self.node, "loop nodes", lambda: list(_body(self.node.body))))

    def holds(self, node: ast.AST) -> bool:
        return node is not self.node and self.node in self.module.ancestors(node)


@dataclass(eq=False)
class Code:
    """A project under check, with the versions of libraries that it pins or has, and what the user asked for."""

    project: Project
    versions: Mapping[str, str] = field(default_factory=dict)
    instructions: tuple[Instruction, ...] = ()

    def __post_init__(self) -> None:
        """A brief says on how many devices the program runs, or speaks of one."""
        asked = [i.value for i in self.asked("num_gpus") if i.polarity == "require"]
        if self.instructions:
            self.project.memory[PROCESSES] = asked[0] if asked and isinstance(asked[0], int) else 1

    @property
    def modules(self) -> list[Module]:
        return self.project.modules

    def calls(self, *names: str) -> list[Call]:
        """The calls of library functions or classes by their dotted names, re-exports included."""
        wanted = frozenset(names)
        return [
            c for last in {n.rpartition(".")[2] for n in names} for c in self._named(last) if c.name in wanted
        ]

    def methods(self, *attributes: str) -> list[Call]:
        """The calls ``x.attribute(…)`` whatever ``x`` is; those that a library's own function is meant by excepted."""
        found = [c for a in attributes for c in self._named(a)]
        return [
            c
            for c in found
            if isinstance(c.node.func, ast.Attribute) and (c.name.startswith(".") or not c.name)
        ]

    def asked(self, key: str) -> list[Instruction]:
        """The active instructions of a key."""
        return [i for i in self.instructions if i.key == key and i.status == "active"]

    def methods_and_calls(self, *last: str) -> list[Call]:
        """Every call whose last name is one of these, whatever it is called on."""
        return [c for name in last for c in self._named(name)]

    def calls_within(self, *prefixes: str) -> list[Call]:
        """The calls of a library's functions and classes whose dotted name begins so."""
        tops = frozenset(p.partition(".")[0] for p in prefixes)
        if not any(self.imports(top) for top in tops):
            return []
        roots = {m: roots_of(self.project, m, tops) for m in self.modules}
        # Only what begins with a name of theirs is asked what it stands for.
        found = [
            Call(self, v.module, v.node, self._name(v))
            for values in call_index(self.project).by_name.values()
            for v in values
            if isinstance(v.node, ast.Call) and _begins_with(roots[v.module], v.node)
        ]
        return [call for call in found if call.name.startswith(prefixes)]

    def own_calls(self, name: str) -> list[Call]:
        """The calls of the project's own function or class of a name."""
        return [c for c in self._named(name) if self.callees_of(c)]

    def trains(self) -> bool:
        """Whether anything is trained: a backward, or a trainer's train or fit."""
        return bool(self.called_names() & {"backward", "train", "fit"})

    def text_of(self, value: Value) -> Constant | None:
        """A text or a path that the code builds; what varies in it stands as ``{}``."""
        return text_of(self.project, value)

    def called_names(self) -> set[str]:
        """The last names of everything that is called."""
        return set(call_index(self.project).by_name)

    def _named(self, last: str) -> list[Call]:
        known = self._calls.get(last)
        if known is None:
            # An import under another name is called by that name.
            written = {last, *self._aliases.get(last, ())}
            values = [v for w in written for v in call_index(self.project).by_name.get(w, ())]
            known = [
                Call(self, v.module, v.node, self._name(v)) for v in values if isinstance(v.node, ast.Call)
            ]
            self._calls[last] = known
        return known

    @cached_property
    def _calls(self) -> dict[str, list[Call]]:
        return {}

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for module in self.modules:
            for node in module.nodes(ast.alias):
                if node.asname:
                    found.setdefault(node.name.rpartition(".")[2], set()).add(node.asname)
        return found

    def _name(self, value: Value) -> str:
        assert isinstance(value.node, ast.Call)
        name = external(resolve(self.project, value.module, value.node.func))
        if name:
            return shortest(name)
        return f".{value.node.func.attr}" if isinstance(value.node.func, ast.Attribute) else ""

    def callees_of(self, call: Call) -> list[Defined]:
        """The project's own functions or classes that a call may call."""
        found = callees(new_walk(self.project), Value(call.module, call.node))
        return [Defined(c.module, c.function or c.cls) for c in found if c.module and (c.function or c.cls)]  # type: ignore[arg-type]

    def origins(self, module: Module, node: ast.expr) -> list[Origin]:
        """Where a value is computed, through plain passing of it across functions, classes and files."""
        known = self._origins.get(node)
        if known is None:
            known = self._origins[node] = new_walk(self.project).origins(Value(module, node))
        return list(known)

    @cached_property
    def _origins(self) -> dict[ast.expr, list[Origin]]:
        return {}

    def made_by(self, module: Module, node: ast.expr) -> set[str]:
        """The dotted names of the calls whose result an expression is; "" among them where something else is, too."""
        return {
            shortest(external(resolve(self.project, o.module, o.node.func)))
            if isinstance(o.node, ast.Call)
            else ""
            for o in self.origins(module, node)
        }

    def uses_of(self, made: Call) -> list[Call]:
        """The calls of the object that a call makes: ``criterion(x)`` of ``criterion = nn.MSELoss()``."""
        found = self._held.calls_of(made.module, made.node)
        return [Call(self, module, node, f"{made.name}()") for module, node in found]

    @cached_property
    def _held(self) -> Held:
        return Held(self.project, self.origins)

    def constant(self, module: Module, node: ast.expr) -> Constant | None:
        """The value of an expression where the code alone says it."""
        return constant(self.project, Value(module, node))

    def subclasses_of(self, *bases: str) -> list[Defined]:
        """The project's classes that derive from a library's class, such as torch.nn.Module."""
        wanted = set(bases)
        return [cls for cls, known in self._classes if wanted & known]

    @cached_property
    def _classes(self) -> list[tuple[Defined, frozenset[str]]]:
        """Every class with the library classes that it derives from."""
        return [
            (Defined(m, node), frozenset(shortest(b) for b in external_bases(self.project, m, node)))
            for m in self.modules
            for node in m.nodes(ast.ClassDef)
            if node.bases
        ]

    def loops(self) -> list[Loop]:
        """Every loop of the project."""
        kinds: tuple[type[Looping], ...] = (ast.For, ast.AsyncFor, ast.While)
        return [Loop(m, node) for m in self.modules for kind in kinds for node in m.nodes(kind)]

    def loop_around(self, module: Module, node: ast.AST) -> Loop | None:
        """The innermost loop whose body or test holds a node, up to its function."""
        for parent in module.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return None
            if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
                return Loop(module, parent)
        return None

    def under(self, module: Module, node: ast.AST, *managers: str) -> ast.With | None:
        """The ``with`` statement of one of these context managers that holds a node within its function."""
        for parent in module.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return None
            if isinstance(parent, ast.With) and any(
                self._manager(module, i) in managers for i in parent.items
            ):
                return parent
        return None

    def _manager(self, module: Module, item: ast.withitem) -> str:
        called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
        return shortest(external(resolve(self.project, module, called)))

    def imports(self, library: str) -> bool:
        """Whether any file imports a library."""
        return library in self._imports

    @cached_property
    def _imports(self) -> frozenset[str]:
        """What is imported, and the packages that it is in."""
        names = {name for module in self.modules for name in _imported(module)}
        return frozenset(
            ".".join(parts[:n])
            for parts in (name.split(".") for name in names)
            for n in range(1, len(parts) + 1)
        )


def finding(
    slug: str, category: Category, module: Module, node: ast.AST, message: str, **more: object
) -> Finding:
    """A finding at a node; its statement's last line is the finding's."""
    statement = module.statement(node)
    last = getattr(statement, "end_lineno", 0) or 0
    whole = Finding(slug, category, module.site(node), message, end_line=module.raw_line(last) if last else 0)
    cell, line = module.cell(getattr(node, "lineno", 1))
    return replace(whole, cell=cell, cell_line=line, **more)  # type: ignore[arg-type]


def _begins_with(roots: frozenset[str], call: ast.AST) -> bool:
    return "*" in roots or (isinstance(call, ast.Call) and root_of(call.func) in roots)


def is_own_attribute(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is ``self.name``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _imported(module: Module) -> Iterator[str]:
    for plain in module.nodes(ast.Import):
        yield from (alias.name for alias in plain.names)
    for node in module.nodes(ast.ImportFrom):
        if not node.level and node.module:
            yield node.module


def _body(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            waiting += children(node)
