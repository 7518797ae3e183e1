"""Settings that a program holds in an object, a dataclass or what argparse has parsed, and reads of what they lack."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.check.code import Call, Code, is_own_attribute
from firstcause.check.makers import call_of, maker
from firstcause.schema.site import Site
from firstcause.source.callsites import last_name
from firstcause.source.classes import (
    DATACLASS,
    FIELD_BASES,
    decorators,
    fields,
    lineage,
    subclasses,
)
from firstcause.source.module import Module, within
from firstcause.source.resolve import Defined, external, resolve

PARSER = "argparse.ArgumentParser"
ADDS = ("add_argument", "add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser")
# What every such object has besides its fields.
ALWAYS = {
    "typing.NamedTuple": frozenset(dir(tuple)) | {"_asdict", "_replace", "_fields", "_make"},
    "pydantic.BaseModel": frozenset({"copy", "dict", "json"}),
}
DYNAMIC = ("__getattr__", "__getattribute__", "__setattr__", "__class_getitem__")


@dataclass(frozen=True, eq=False)
class Lacking:
    """A read of a name that the settings do not have: what they have, and where they are defined."""

    module: Module
    node: ast.Attribute
    owner: str
    has: tuple[str, ...]
    defined: Site


@dataclass(frozen=True)
class _Settings:
    owner: str
    names: frozenset[str]
    order: tuple[str, ...]
    site: Site


def lacking(code: Code) -> Iterator[Lacking]:
    """Every read of a name that surely is none of its settings'."""
    known = _Known(code)
    if not known.some:
        return
    for module in code.modules:
        reads: dict[tuple[ast.AST | None, str], list[ast.Attribute]] = {}
        for node in module.nodes(ast.Attribute):
            held = node.value
            if isinstance(held, ast.Name):
                reads.setdefault((module.function(node), held.id), []).append(node)
            elif is_own_attribute(held):
                reads.setdefault((module.function(node), f"self.{held.attr}"), []).append(node)
        for nodes in reads.values():
            asked = {n.attr for n in nodes if isinstance(n.ctx, ast.Load)}
            # Only what reads some of the settings as well is followed.
            if not asked - known.every or not asked & known.every:
                continue
            settings = known.of(module, nodes[0].value)
            for node in nodes if settings is not None else ():
                assert settings is not None
                if isinstance(node.ctx, ast.Load) and node.attr not in settings.names | known.set_elsewhere:
                    yield Lacking(module, node, settings.owner, settings.order, settings.site)


class _Known:
    def __init__(self, code: Code) -> None:
        self.code = code
        self.classes = {d.node: s for d in _classes(code) if (s := _of_class(code, d)) is not None}
        self.parsed = _of_parsers(code)
        self.some = bool(self.classes) or self.parsed is not None
        self.every = {n for s in self.classes.values() for n in s.order}
        self.every |= set(self.parsed.order) if self.parsed is not None else set()

    @property
    def set_elsewhere(self) -> frozenset[str]:
        """Names that are assigned as attributes of whatever object: they may be put into the settings."""
        stored: frozenset[str] | None = self.code.project.memory.get("names stored")
        if stored is None:
            stored = frozenset(
                n.attr
                for m in self.code.modules
                for n in m.nodes(ast.Attribute)
                if not isinstance(n.ctx, ast.Load)
            )
            self.code.project.memory["names stored"] = stored
        return stored

    def of(self, module: Module, node: ast.expr) -> _Settings | None:
        """The settings that an expression surely is, by its annotation or by all that it comes from."""
        annotated = _annotation(module, node)
        if annotated is not None:
            found = resolve(self.code.project, module, annotated)
            return self.classes.get(found.node) if isinstance(found, Defined) else None
        kinds = [self._made(o.module, o.node) for o in self.code.origins(module, node)]
        first = kinds[0] if kinds else None
        return first if first is not None and all(k is first for k in kinds) else None

    def _made(self, module: Module, node: ast.AST) -> _Settings | None:
        if not isinstance(node, ast.Call):
            return None
        call = call_of(self.code, module, node)
        if call.name == ".parse_args" and call.receiver is not None and not call.may_have("namespace"):
            made = maker(self.code, module, call.receiver)
            return self.parsed if made is not None and made.name == PARSER else None
        found = resolve(self.code.project, module, node.func)
        return self.classes.get(found.node) if isinstance(found, Defined) else None


def _annotation(module: Module, node: ast.expr) -> ast.expr | None:
    """The annotation of the parameter that a name is, where the function gives the name no other value."""
    function = module.function(node)
    if not isinstance(node, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    given = function.args
    parameter = next(
        (a for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg == node.id), None
    )
    if parameter is None or parameter.annotation is None:
        return None
    again = any(
        isinstance(n, ast.Name) and n.id == node.id and not isinstance(n.ctx, ast.Load)
        for n in within(function)
    )
    return None if again else parameter.annotation


def _classes(code: Code) -> Iterator[Defined]:
    for module in code.modules:
        for node in module.nodes(ast.ClassDef):
            if (node.bases or node.decorator_list) and fields(code.project, module, node):
                yield Defined(module, node)


def _of_class(code: Code, found: Defined) -> _Settings | None:
    """What objects of a class have; None where that is not written down in full."""
    assert isinstance(found.node, ast.ClassDef)
    parts = lineage(code.project, found.module, found.node)
    names: set[str] = set()
    for part in (*parts, *subclasses(code.project, found.node)):
        cls = part.node
        if not isinstance(cls, ast.ClassDef) or cls.keywords:
            return None
        outside = {external(resolve(code.project, part.module, b)) for b in cls.bases}
        own = [b for b in cls.bases if isinstance(resolve(code.project, part.module, b), Defined)]
        outside = {o.removeprefix("builtins.") for o in outside if o}
        if len(own) + len(outside) != len(cls.bases) or not outside <= {*FIELD_BASES, "object", "abc.ABC"}:
            return None
        if not set(decorators(code.project, part.module, cls)) <= set(DATACLASS):
            return None
        for base in outside:
            names |= ALWAYS.get(base, frozenset())
        if any(base.startswith("pydantic") for base in outside):
            # A model may take more than its fields, and its own methods are many.
            return None
        names |= _members(cls)
    if names & set(DYNAMIC):
        return None
    order = tuple(fields(code.project, found.module, found.node) or ())
    return _Settings(
        found.node.name, frozenset(names) | frozenset(dir(object)), order, found.module.site(found.node)
    )


def _members(cls: ast.ClassDef) -> set[str]:
    """Everything that a class body or a method of it binds."""
    found: set[str] = set()
    for node in within(cls):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
    return found | {"__dict__", "__dataclass_fields__", "__annotations__", "__name__", "__module__"}


def _of_parsers(code: Code) -> _Settings | None:
    """The options that all parsers of the program have; None where one may have others."""
    parsers = code.calls(PARSER)
    if not parsers or any(p.may_have("parents") for p in parsers) or _handed_on(code, parsers):
        return None
    order: list[str] = []
    for call in code.methods_and_calls("add_argument"):
        name = _destination(call)
        if name is None:
            return None
        order.append(name)
    for call in code.methods_and_calls("set_defaults"):
        if any(k.arg is None for k in call.node.keywords):
            return None
        order += [str(k.arg) for k in call.node.keywords]
    for call in code.methods_and_calls("add_subparsers"):
        given = call.constant("dest")
        order += [str(given.value)] if given is not None else []
    return _Settings(
        "the parser", frozenset(order) | frozenset(dir(object)) | {"__dict__"}, tuple(order), parsers[0].site
    )


def _destination(call: Call) -> str | None:
    """The name under which an option is stored; None where the code does not say."""
    given = call.constant("dest")
    if given is not None:
        return str(given.value)
    if call.may_have("dest") or any(isinstance(a, ast.Starred) for a in call.node.args):
        return None
    flags = [call.code.constant(call.module, a) for a in call.node.args]
    texts = [f.value for f in flags if f is not None and isinstance(f.value, str)]
    if not texts or len(texts) != len(flags):
        return None
    long = next((t for t in texts if t.startswith("--")), texts[0])
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _handed_on(code: Code, parsers: list[Call]) -> bool:
    """Whether a parser is given to something that is not the program's own: it may add options."""
    names = {t for p in parsers for t in _names(p)}
    for module in code.modules:
        for call in module.nodes(ast.Call):
            given = [*call.args, *(k.value for k in call.keywords)]
            if not any(isinstance(g, ast.Name) and (g.id in names or g.id == "parser") for g in given):
                continue
            if not code.callees_of(Call(code, module, call, "")):
                return True
    # A class of the program's own may do anything with what it parses.
    return any(
        last_name(b) == "ArgumentParser" for m in code.modules for c in m.nodes(ast.ClassDef) for b in c.bases
    )


def _names(made: Call) -> list[str]:
    statement = made.module.statement(made.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [t.id for t in targets if isinstance(t, ast.Name)]
