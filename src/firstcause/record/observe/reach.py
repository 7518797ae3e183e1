"""Which names lead to an optimizer step, over the whole project, by name alone.

Reading by name errs towards too many candidates, which sleep after the first step; never towards too few.
"""

from __future__ import annotations

import ast
import os

from firstcause.installed import is_installed
from firstcause.record.observe.model_names import ModelNames

SEEDS = frozenset({"step", "training_step", "train_batch"})
MAX_FILES = 400
MAX_BYTES = 2_000_000


class Reach:
    """The names of functions, methods and callables of the project from which a step is reached."""

    def __init__(self, main: str, roots: list[str]) -> None:
        self.roots = [r for r in dict.fromkeys(roots) if r]
        self.names: set[str] = set(SEEDS)
        self.compiled: set[str] = set()
        self._calls: dict[str, set[str]] = {}
        self._callables: dict[str, set[str]] = {}
        self._seen: set[str] = set()
        self._models = ModelNames()
        self.models: set[str] = set()
        self.include(main)

    @property
    def functions(self) -> set[str]:
        """The names of the project's functions and methods."""
        return self._models.functions

    def inside_compiled(self) -> set[str]:
        """Names of functions that something compiled may call; empty where the project compiles nothing."""
        if not self.compiled:
            return set()
        found = {*self.compiled, "forward"}
        while new := {c for name in found for c in self._calls.get(name, ())} - found:
            found |= new
        return found

    @property
    def files(self) -> frozenset[str]:
        """The files that were read."""
        return frozenset(self._seen)

    def include(self, path: str) -> None:
        """Read a file and what it imports of the project, and close the names over their calls."""
        queue, known = [os.path.abspath(path)], len(self._seen)
        while queue and len(self._seen) < MAX_FILES:
            current = queue.pop()
            if current in self._seen:
                continue
            self._seen.add(current)
            tree = _parse(current)
            if tree is not None:
                self._read(tree)
                self._models.read(tree)
                queue.extend(self._imports(tree, current))
        if len(self._seen) > known:
            self._close()
            self.models = self._models.closed()

    def _read(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._calls.setdefault(node.name, set()).update(names_called(node.body))
                if any("compile" in ast.unparse(d) for d in node.decorator_list):
                    self.compiled.add(node.name)
            elif isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and item.name == "__call__":
                        self._callables.setdefault(node.name, set()).update(names_called(item.body))
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                # fit = Trainer(...): a later fit(...) runs Trainer.__call__.
                made = _name_of(node.value.func)
                for target in node.targets:
                    self._calls.setdefault(_name_of(target), set()).add(made + ".__call__")
            if isinstance(node, ast.Call) and _name_of(node.func) == "compile" and node.args:
                self.compiled.add(_name_of(node.args[0]))

    def _close(self) -> None:
        calls = dict(self._calls)
        calls.update({f"{c}.__call__": n for c, n in self._callables.items()})
        grown = True
        while grown:
            new = {name for name, called in calls.items() if name not in self.names and called & self.names}
            grown = bool(new)
            self.names |= new
        self.names.discard("")

    def _imports(self, tree: ast.Module, path: str) -> list[str]:
        found: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found += self._files(alias.name.split("."), self.roots)
            elif isinstance(node, ast.ImportFrom):
                base = os.path.dirname(path)
                for _ in range(max(0, node.level - 1)):
                    base = os.path.dirname(base)
                parts = node.module.split(".") if node.module else []
                roots = [base] if node.level else self.roots
                found += self._files(parts, roots)
                for alias in node.names:
                    found += self._files([*parts, alias.name], roots)
        return found

    def _files(self, parts: list[str], roots: list[str]) -> list[str]:
        if not parts:
            return []
        places = [os.path.join(root, *parts) for root in roots]
        candidates = [c for p in places for c in (p + ".py", os.path.join(p, "__init__.py"))]
        return [c for c in candidates if os.path.isfile(c) and not is_installed(c)]


def names_called(body: list[ast.stmt]) -> set[str]:
    """The last names of everything called in ``body``: ``a.b.step()`` gives ``step``."""
    return {
        _name_of(n.func) for statement in body for n in ast.walk(statement) if isinstance(n, ast.Call)
    } - {""}


def _name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _parse(path: str) -> ast.Module | None:
    try:
        if os.path.getsize(path) > MAX_BYTES:
            return None
        with open(path, "rb") as file:
            return ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError):
        # What does not parse here is reported by Python itself when it is imported.
        return None
