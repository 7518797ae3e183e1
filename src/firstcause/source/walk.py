"""The walk from a value back to the expressions that compute it, through plain passing of it from place to place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from firstcause.schema import Site
from firstcause.source.frames import Instance, Value, depth, signature
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.steps import Path

OriginKind = Literal[
    "literal", "call", "operation", "parameter-default", "attribute", "config", "definition", "unknown"
]

MAX_HOPS = 25
MAX_FRAMES = 12
MAX_PATH = 8
# Steps of one question, the questions within it included; one that needs more ends in origins of kind "unknown".
MAX_NODES = 3_000
# Each takes up to ten of the interpreter's frames, of which it allows a thousand.
MAX_NESTED = 70


@dataclass(eq=False)
class Holder:
    """A variable that holds a value on its way: a name in a scope, or an attribute of a class's objects.

    ``key`` is set where the value is only that item or attribute of what the variable holds.
    """

    module: Module
    scope: ast.AST
    name: str
    is_attribute: bool = False
    key: str | int | None = None


@dataclass(eq=False)
class Hop:
    """A place that a value passes through: the expression, and the variable that it is read from next, if any."""

    module: Module
    node: ast.AST
    holder: Holder | None = None

    @property
    def site(self) -> Site:
        return self.module.site(self.node)


Chain = tuple[Hop, ...]


@dataclass(eq=False)
class Origin:
    """The expression where a value is computed.

    ``exact`` is False where the value is only a part of the expression's, or the walk could not go on.
    ``instance`` is the project object that the value is, ``owner`` the one whose method it is. ``hops``
    are the places between the question and the origin, nearest to the question first.
    """

    kind: OriginKind
    module: Module
    node: ast.AST
    hops: Chain = ()
    exact: bool = True
    value: Value | None = None
    instance: Instance | None = None
    owner: Instance | None = None

    @property
    def site(self) -> Site:
        return self.module.site(self.node)

    @property
    def text(self) -> str:
        return self.module.segment(self.node)

    @property
    def start(self) -> tuple[int, int]:
        """Line and UTF-8 column where the expression starts."""
        return getattr(self.node, "lineno", 1), getattr(self.node, "col_offset", 0)

    @property
    def end(self) -> tuple[int, int]:
        """Line and UTF-8 column after the expression."""
        return getattr(self.node, "end_lineno", 1), getattr(self.node, "end_col_offset", 0)

    @property
    def chain(self) -> tuple[Site, ...]:
        return tuple(hop.site for hop in self.hops)


# None: the projection leads nowhere that is known. An empty list: only to where the walk already is.
Result = list[Origin] | None
Follow = Callable[["Walk", Value, Chain], Result]


@dataclass
class Effort:
    """What a question may still cost, and how often a walk was cut short: by that, or by meeting itself."""

    left: int = MAX_NODES
    cuts: int = 0
    # Questions within questions that are being followed.
    nested: int = 0


class Walk:
    """One question's walk, with its bounds.

    ``handlers`` follow one kind of expression each; ``data`` also passes through conversions, indexing and
    loaders, which leave a tensor's numbers as they are; ``spread`` looks into every element of a literal
    list where any one of them is meant.
    """

    def __init__(
        self,
        project: Project,
        handlers: Mapping[type[ast.AST], Follow],
        data: bool = False,
        spread: bool = False,
        effort: Effort | None = None,
    ) -> None:
        self.project = project
        self.handlers = handlers
        self.data = data
        self.spread = spread
        self.effort = effort or Effort()
        # Comprehensions of which one element, by its number, is being followed.
        self.selected: dict[ast.AST, int] = {}
        # Statements like `x += y` whose earlier value is being followed.
        self.augmenting: set[ast.AST] = set()
        # Imports that are being followed: two files may each say that the other one has a name.
        self.importing: set[tuple[ast.AST, str, Path]] = set()
        self._active: set[tuple[int, Path, tuple[int, ...]]] = set()

    def fork(self) -> Walk:
        """A fresh walk over the same project, for a question within a question."""
        return Walk(self.project, self.handlers, effort=self.effort)

    def origins(self, value: Value) -> list[Origin]:
        """The origins of a value, each once."""
        try:
            found = self.trace(value, ()) or []
        except RecursionError:
            # Expressions nested as deep as generated code has them: the walk says that it could not go on.
            found = [Origin("unknown", value.module, value.node, (), exact=False)]
        unique: dict[tuple[int, str], Origin] = {}
        for origin in found:
            unique.setdefault((id(origin.node), origin.kind), origin)
        return list(unique.values())

    def trace(self, value: Value, chain: Chain) -> Result:
        key = (id(value.node), value.path, signature(value.frame))
        if key in self._active:
            self.effort.cuts += 1
            return []
        self.effort.left -= 1
        if self.effort.left < 0:
            self.effort.cuts += 1
            return [Origin("unknown", value.module, value.node, chain, exact=False)]
        if self.effort.nested > MAX_NESTED:
            self.effort.cuts += 1
            return [Origin("unknown", value.module, value.node, chain, exact=False)]
        if len(chain) > MAX_HOPS or depth(value.frame) > MAX_FRAMES or len(value.path) > MAX_PATH:
            return [Origin("unknown", value.module, value.node, chain, exact=False)]
        self._active.add(key)
        self.effort.nested += 1
        try:
            return self._node(value, chain)
        finally:
            self.effort.nested -= 1
            self._active.discard(key)

    def instances(self, value: Value) -> list[Instance]:
        """The project objects that a value can be."""
        with self._looking_for_objects():
            return [o.instance for o in self.trace(value, ()) or [] if o.instance is not None]

    @contextmanager
    def _looking_for_objects(self) -> Iterator[None]:
        data, spread, self.data, self.spread = self.data, self.spread, False, True
        try:
            yield
        finally:
            self.data, self.spread = data, spread

    def callables(self, value: Value) -> list[Origin]:
        """The functions, classes and objects that a value can be when it is called."""
        with self._looking_for_objects():
            return self.trace(value, ()) or []

    def any_of(self, values: Iterable[tuple[Value, Chain]]) -> Result:
        """The origins of several alternatives; those that lead nowhere count as unknown if another leads somewhere."""
        alternatives = list(values)
        results = [(v, c, self.trace(v, c)) for v, c in alternatives]
        if all(r is None for _, _, r in results):
            return None
        found: list[Origin] = []
        for value, chain, result in results:
            found += (
                [Origin("unknown", value.module, value.node, chain, exact=False)]
                if result is None
                else result
            )
        return found

    def stop(self, kind: OriginKind, value: Value, chain: Chain, exact: bool = True) -> Result:
        """The expression itself as the origin, unless a part of it is asked for that is not known."""
        if value.path:
            return None
        return [Origin(kind, value.module, value.node, chain, exact, value)]

    def _node(self, value: Value, chain: Chain) -> Result:
        handler = self.handlers.get(type(value.node))
        return handler(self, value, chain) if handler is not None else self.stop("operation", value, chain)
