"""Which names each scope of a file binds, and which names are read that nothing binds."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from firstcause.source.module import COMPREHENSIONS, FUNCTIONS, Module

# What Python, and a notebook's kernel, gives to each file by itself.
GIVEN = frozenset(dir(builtins)) | frozenset(
    {"__file__", "__name__", "__doc__", "__builtins__", "__spec__", "__loader__", "__package__", "__path__", "__annotations__", "__dict__"}
)  # fmt: skip
OF_CLASS = frozenset({"__module__", "__qualname__", "__class__"})
NOTEBOOK = frozenset({"get_ipython", "display", "In", "Out", "_", "__", "___", "_ih", "_oh", "_dh", "exit", "quit"})
# Calls and names through which names come into being that no statement binds.
HIDDEN = frozenset({"exec", "globals", "locals", "vars", "setattr"})
Scopes = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef, ast.Module)
BindingDef = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ScopesOf:
    """The scopes of one file and what is bound in each."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.bound: dict[ast.AST, set[str]] = {module.tree: set()}
        self.stars = any(a.name == "*" for a in module.nodes(ast.alias))
        self._globals: dict[ast.AST, set[str]] = {}
        for node in (*module.nodes(ast.Global), *module.nodes(ast.Nonlocal)):
            scope = module.tree if isinstance(node, ast.Global) else self._outer(self.scope(node))
            for name in node.names:
                self._globals.setdefault(self.scope(node), set()).add(name)
                self.bound.setdefault(scope, set()).add(name)
        for scope, name in self._bindings():
            self.bound.setdefault(scope, set()).add(name)

    def scope(self, node: ast.AST) -> ast.AST:
        """The scope in which a node is evaluated: defaults, decorators and bases are outside of what they belong to."""
        child, parent = node, self.module.parents.get(node)
        while parent is not None:
            if isinstance(parent, Scopes) and _inside(parent, child):
                return parent
            child, parent = parent, self.module.parents.get(parent)
        return self.module.tree

    def _outer(self, scope: ast.AST) -> ast.AST:
        """The function around a function, for nonlocal."""
        for parent in self.module.ancestors(scope):
            if isinstance(parent, FUNCTIONS):
                return parent
        return self.module.tree

    def _bindings(self) -> Iterator[tuple[ast.AST, str]]:
        for name in self.module.nodes(ast.Name):
            if not isinstance(name.ctx, ast.Load):
                yield self._target_scope(name), name.id
        for definition in self.module.nodes(*BindingDef):
            yield self.scope(definition), definition.name
        for alias in self.module.nodes(ast.alias):
            yield self.scope(alias), (alias.asname or alias.name.partition(".")[0])
        for argument in self.module.nodes(ast.arg):
            function = self.module.function(argument)
            yield function if function is not None else self.module.tree, argument.arg
        for node in self.module.nodes(ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
            if node.name:
                yield self.scope(node), node.name
        for mapping in self.module.nodes(ast.MatchMapping):
            if mapping.rest:
                yield self.scope(mapping), mapping.rest

    def _target_scope(self, name: ast.Name) -> ast.AST:
        """A walrus in a comprehension binds in the function around it."""
        scope = self.scope(name)
        if isinstance(self.module.parents.get(name), ast.NamedExpr):
            while isinstance(scope, COMPREHENSIONS):
                scope = self.scope(scope)
        return scope

    def known(self, name: ast.Name) -> bool:
        """Whether a scope that the name is read through binds it; classes are seen only from their own body."""
        scope, first = self.scope(name), True
        while True:
            if name.id in self.bound.get(scope, ()) and (first or not isinstance(scope, ast.ClassDef)):
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
    return not (isinstance(scope, COMPREHENSIONS) and child is scope.generators[0] and False)


def unbound(module: Module) -> Iterator[ast.Name]:
    """The names that are read and that nothing in reach binds; none where names come into being in hidden ways."""
    scopes = ScopesOf(module)
    if scopes.stars or getattr(module, "unread", None):
        return
    anywhere = frozenset[str]().union(*scopes.bound.values())
    hidden = any(n.id in HIDDEN for n in module.nodes(ast.Name) if n.id in HIDDEN and _called(module, n))
    given = GIVEN | (NOTEBOOK if module.path.endswith(".ipynb") else frozenset())
    parameters = {getattr(p, "name", "") for d in module.nodes(*BindingDef) for p in getattr(d, "type_params", [])}
    for name in module.nodes(ast.Name):
        if not isinstance(name.ctx, ast.Load) or name.id in given or name.id in parameters:
            continue
        if name.id in anywhere and scopes.known(name):
            continue
        if hidden or (name.id in OF_CLASS and module.method_class(name) is not None):
            continue
        if not _in_annotation(module, name) and not _guarded(module, name):
            yield name


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
        if isinstance(parent, ast.If) and ("TYPE_CHECKING" in ast.unparse(parent.test) or "in globals()" in ast.unparse(parent.test)):
            return True
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(w in ast.unparse(handler.type) for w in ("NameError", "Exception", "BaseException"))
