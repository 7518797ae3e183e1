"""Which names each scope of a file binds, and which names are read that nothing binds."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from firstcause.source.module import COMPREHENSIONS, FUNCTIONS, Module

# What Python, and a notebook's kernel, gives to each file by itself.
GIVEN = frozenset(dir(builtins)) | frozenset(
    {
        "__file__",
        "__name__",
        "__doc__",
        "__builtins__",
        "__spec__",
        "__loader__",
        "__package__",
        "__path__",
        "__annotations__",
        "__dict__",
    }
)
OF_CLASS = frozenset({"__module__", "__qualname__", "__class__"})
NOTEBOOK = frozenset(
    {"get_ipython", "display", "In", "Out", "_", "__", "___", "_ih", "_oh", "_dh", "exit", "quit"}
)
# Calls and names through which names come into being that no statement binds.
HIDDEN = frozenset({"exec", "globals", "locals", "vars", "setattr"})
SPREADS = frozenset({"global_enum", "_convert_"})
SCOPES: frozenset[type[ast.AST]] = frozenset({*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef, ast.Module})
BindingDef = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ScopesOf:
    """The scopes of one file and what is bound in each."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._of_statements: dict[ast.AST, ast.AST] = {}
        self.bound: dict[ast.AST, set[str]] = {module.tree: set()}
        self.stars = any(a.name == "*" for a in module.nodes(ast.alias))
        self._globals: dict[ast.AST, set[str]] = {}
        # The first line on which the file's own statements bind a name.
        self.first: dict[str, int] = {}
        self._seen: dict[tuple[ast.AST, str], bool] = {}
        declared: list[ast.Global | ast.Nonlocal] = [*module.nodes(ast.Global), *module.nodes(ast.Nonlocal)]
        for node in declared:
            scope = module.tree if isinstance(node, ast.Global) else self._outer(self.scope(node))
            for name in node.names:
                self._globals.setdefault(self.scope(node), set()).add(name)
                self.bound.setdefault(scope, set()).add(name)
        for scope, name, line in self._bindings():
            self.bound.setdefault(scope, set()).add(name)
            if scope is module.tree and line:
                self.first[name] = min(self.first.get(name, line), line)

    def scope(self, node: ast.AST) -> ast.AST:
        """The scope in which a node is evaluated: defaults, decorators and bases are outside of what they belong to."""
        parents = self.module.parents
        child, parent = node, parents.get(node)
        while parent is not None:
            if parent.__class__ in SCOPES and _inside(parent, child):
                return parent
            if isinstance(parent, ast.stmt):
                return self._of_statement(parent)
            child, parent = parent, parents.get(parent)
        return self.module.tree

    def _of_statement(self, statement: ast.AST) -> ast.AST:
        known = self._of_statements.get(statement)
        if known is None:
            known = self._of_statements[statement] = self.scope(statement)
        return known

    def _outer(self, scope: ast.AST) -> ast.AST:
        """The function around a function, for nonlocal."""
        for parent in self.module.ancestors(scope):
            if isinstance(parent, FUNCTIONS):
                return parent
        return self.module.tree

    def _bindings(self) -> Iterator[tuple[ast.AST, str, int]]:
        """Scope, name and line of each; 0 for a line that says nothing of when the name is there."""
        for name in self.module.nodes(ast.Name):
            if not isinstance(name.ctx, ast.Load):
                line = name.lineno if isinstance(name.ctx, ast.Store) else 0
                yield self._target_scope(name), name.id, line
        for definition in _definitions(self.module):
            yield self.scope(definition), definition.name, definition.lineno
        for alias in self.module.nodes(ast.alias):
            yield self.scope(alias), (alias.asname or alias.name.partition(".")[0]), alias.lineno
        for argument in self.module.nodes(ast.arg):
            function = self.module.function(argument)
            yield function if function is not None else self.module.tree, argument.arg, 0
        named: list[ast.ExceptHandler | ast.MatchAs | ast.MatchStar] = [
            *self.module.nodes(ast.ExceptHandler),
            *self.module.nodes(ast.MatchAs),
            *self.module.nodes(ast.MatchStar),
        ]
        for node in named:
            if node.name:
                line = node.lineno if isinstance(node, ast.ExceptHandler) else 0
                yield self.scope(node), node.name, line
        for mapping in self.module.nodes(ast.MatchMapping):
            if mapping.rest:
                yield self.scope(mapping), mapping.rest, 0

    def _target_scope(self, name: ast.Name) -> ast.AST:
        """A walrus in a comprehension binds in the function around it."""
        scope = self.scope(name)
        if isinstance(self.module.parents.get(name), ast.NamedExpr):
            while isinstance(scope, COMPREHENSIONS):
                scope = self.scope(scope)
        return scope

    def known(self, name: ast.Name) -> bool:
        """Whether a scope that the name is read through binds it; classes are seen only from their own body."""
        scope = self.scope(name)
        key = (scope, name.id)
        if key not in self._seen:
            self._seen[key] = self._known(scope, name.id)
        return self._seen[key]

    def _known(self, scope: ast.AST, name: str) -> bool:
        first = True
        while True:
            if name in self.bound.get(scope, ()) and (first or not isinstance(scope, ast.ClassDef)):
                return True
            if isinstance(scope, ast.Module):
                return False
            # A comprehension in a class body sees the class only in its first iterable, which is outside of it.
            first = False
            scope = self.scope(scope)


def _inside(scope: ast.AST, child: ast.AST) -> bool:
    """Whether a direct child of a scope's node is evaluated inside of the scope."""
    if isinstance(scope, ast.Module):
        return True
    if isinstance(scope, ast.Lambda):
        return child is scope.body
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        # Type parameters, since 3.12, are a scope of their own around all but the decorators.
        return child in scope.body
    # The first iterable of a comprehension is evaluated outside of it; its node lies in the generator's, which holds
    # the target too, so that the whole is taken as inside: the scopes around are searched all the same.
    return True


def _definitions(module: Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return [
        *module.nodes(ast.FunctionDef),
        *module.nodes(ast.AsyncFunctionDef),
        *module.nodes(ast.ClassDef),
    ]


def scopes_of(module: Module) -> ScopesOf:
    """The scopes of a file, made at the first question."""
    known: ScopesOf | None = vars(module).get("scopes")
    if known is None:
        known = vars(module)["scopes"] = ScopesOf(module)
    return known


def unbound(module: Module) -> list[ast.Name]:
    """The names that are read and that nothing in reach binds; none where names come into being in hidden ways."""
    known: list[ast.Name] | None = vars(module).get("unbound")
    if known is None:
        known = vars(module)["unbound"] = list(_unbound(module))
    return known


def _unbound(module: Module) -> Iterator[ast.Name]:
    scopes = scopes_of(module)
    if scopes.stars:
        return
    anywhere = frozenset[str]().union(*scopes.bound.values())
    everywhere = scopes.bound[module.tree]
    hidden = any(n.id in HIDDEN and _called(module, n) for n in module.nodes(ast.Name))
    # What puts an enumeration's members among the file's own names.
    hidden = hidden or any(a.attr in SPREADS for a in module.nodes(ast.Attribute))
    given = GIVEN | (NOTEBOOK if module.path.endswith(".ipynb") else frozenset())
    parameters = {getattr(p, "name", "") for d in _definitions(module) for p in getattr(d, "type_params", [])}
    for name in module.nodes(ast.Name):
        if (
            name.id in everywhere
            or name.id in given
            or not isinstance(name.ctx, ast.Load)
            or name.id in parameters
            or _is_pythons(name.id)
        ):
            continue
        if name.id in anywhere and scopes.known(name):
            continue
        if hidden or (name.id in OF_CLASS and module.method_class(name) is not None):
            continue
        if not _in_annotation(module, name) and not _guarded(module, name) and not _excused(module, name):
            yield name


def _is_pythons(name: str) -> bool:
    """Names such as __cached__ come from Python, or from a library that puts them there."""
    return name.startswith("__") and name.endswith("__")


def _called(module: Module, name: ast.Name) -> bool:
    call = module.parents.get(name)
    if not isinstance(call, ast.Call) or call.func is not name:
        return False
    return name.id in ("exec", "globals") or (name.id in ("locals", "vars") and not call.args)


def _in_annotation(module: Module, node: ast.AST) -> bool:
    """Annotations need not be evaluated at all."""
    child: ast.AST = node
    for parent in module.ancestors(node):
        if isinstance(parent, (ast.arg, ast.AnnAssign)) and parent.annotation is child:
            return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and parent.returns is child:
            return True
        child = parent
    return False


def _guarded(module: Module, node: ast.AST) -> bool:
    """A try that catches the error, or code that only a type checker reads."""
    for parent in module.ancestors(node):
        if isinstance(parent, ast.Try) and any(_catches(h) for h in parent.handlers):
            return True
        if isinstance(parent, ast.If) and (
            "TYPE_CHECKING" in ast.unparse(parent.test) or "in globals()" in ast.unparse(parent.test)
        ):
            return True
    return False


def _excused(module: Module, node: ast.Name) -> bool:
    """Whether the line says that its author knows: ``# noqa: F821``."""
    line = module.line(node.lineno)
    return "noqa" in line and ("F821" in line or "noqa:" not in line)


def _catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(
        w in ast.unparse(handler.type) for w in ("NameError", "Exception", "BaseException")
    )


def early(module: Module) -> Iterator[tuple[ast.Name, int]]:
    """Names read by the file's own statements before any line that binds them, each with the first such line."""
    scopes = scopes_of(module)
    if scopes.stars or module.by_type.get(ast.Global):
        return
    first = scopes.first
    given = GIVEN | (NOTEBOOK if module.path.endswith(".ipynb") else frozenset())
    for read in module.nodes(ast.Name):
        line = first.get(read.id, 0)
        if read.lineno >= line or not isinstance(read.ctx, ast.Load) or read.id in given:
            continue
        if scopes.scope(read) is not module.tree or _comes_round(module, read, line):
            continue
        if not _guarded(module, read) and not _in_annotation(module, read):
            yield read, line


def _comes_round(module: Module, node: ast.AST, line: int) -> bool:
    """Whether a loop around a node holds the line, too: a round before may have bound the name."""
    loops = [p for p in module.ancestors(node) if isinstance(p, (ast.For, ast.While))]
    return any(loop.lineno <= line <= (loop.end_lineno or 0) for loop in loops)
