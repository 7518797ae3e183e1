"""The user's program as a set of files, found by following imports from its script and parsed when asked for."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from firstcause.schema import Site
from firstcause.source.module import MAX_BYTES, Module, display_name

# A program of more files is read in part; the walk from its script meets the nearest first.
MAX_FILES = 500


@dataclass(frozen=True)
class Unreadable:
    """A file that cannot be parsed: where, and what the parser said."""

    site: Site
    message: str


class Project:
    """Files beneath a root folder and whatever they import from it; nothing is run.

    ``files`` are the starting points; ``search`` the folders in which an import is looked for, the
    root among them.
    """

    def __init__(self, root: str, files: Iterable[str], search: Iterable[str] = ()) -> None:
        self.root = os.path.abspath(root)
        self.files = tuple(os.path.abspath(os.path.join(self.root, f)) for f in files)
        self.search = tuple(dict.fromkeys([*(os.path.abspath(s) for s in search), self.root]))
        self.unreadable: dict[str, Unreadable] = {}
        # What later readings of the whole project keep here, by name.
        self.memory: dict[str, Any] = {}
        # How many steps one question about a value may take; None for the walk's own bound.
        self.effort: int | None = None
        self.resolved: dict[ast.AST, Any] = {}
        self.callees: dict[ast.AST, Any] = {}
        self._modules: dict[str, Module | None] = {}
        self._found: dict[str, str | None] = {}

    @classmethod
    def of_script(cls, path: str, root: str | None = None) -> Project:
        """The program that starts in ``path``; ``root`` is the folder it is run from, by default the current one."""
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        root = os.path.abspath(root or os.getcwd())
        if os.path.relpath(path, root).startswith(".."):
            root = folder
        return cls(root, [path], [folder])

    def module(self, path: str) -> Module | None:
        """The parsed file at a path (absolute, or relative to the root), or None where it cannot be read."""
        path = os.path.abspath(os.path.join(self.root, path))
        if path not in self._modules:
            self._modules[path] = self._parse(path)
        return self._modules[path]

    @cached_property
    def modules(self) -> list[Module]:
        """Every file that the starting points reach by imports, in the order in which they are met."""
        waiting, seen = list(self.files), set(self.files)
        found: list[Module] = []
        while waiting and len(found) < max(MAX_FILES, len(self.files)):
            module = self.module(waiting.pop(0))
            if module is None:
                continue
            found.append(module)
            for node in module.nodes(ast.Import, ast.ImportFrom):
                for path in self._imported_paths(module, node):
                    if path not in seen:
                        seen.add(path)
                        waiting.append(path)
        return found

    def import_target(self, importer: Module | None, dotted: str, level: int = 0) -> Module | None:
        """The project's module that ``import dotted`` (with ``level`` leading dots) means in a file, or None."""
        path = self._find(importer, dotted, level)
        return self.module(path) if path else None

    def _imported_paths(self, module: Module, node: ast.AST) -> list[str]:
        paths: list[str | None] = []
        if isinstance(node, ast.Import):
            paths = [self._find(module, alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            paths = [self._find(module, node.module or "", node.level)]
            prefix = f"{node.module}." if node.module else ""
            paths += [self._find(module, prefix + alias.name, node.level) for alias in node.names]
        return [path for path in paths if path]

    def _find(self, importer: Module | None, dotted: str, level: int) -> str | None:
        if level and importer is not None:
            folder = os.path.dirname(importer.path)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._file(folder, dotted)
        for folder in self.search:
            found = self._file(folder, dotted)
            if found:
                return found
        return None

    def _file(self, folder: str, dotted: str) -> str | None:
        base = os.path.join(folder, *dotted.split(".")) if dotted else folder
        if base not in self._found:
            places = (base + ".py", os.path.join(base, "__init__.py"))
            self._found[base] = next((p for p in places if os.path.isfile(p)), None)
        return self._found[base]

    def _parse(self, path: str) -> Module | None:
        name = display_name(path, self.root)
        try:
            with open(path, "rb") as file:
                raw = file.read(MAX_BYTES + 1)
            if len(raw) > MAX_BYTES:
                raise ValueError(f"larger than {MAX_BYTES} bytes")
            return Module(path, name, raw)
        except SyntaxError as error:
            site = Site(name, error.lineno or 1, "", (error.text or "").strip())
            self.unreadable[path] = Unreadable(site, error.msg)
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            self.unreadable[path] = Unreadable(Site(name, 1), str(error) or type(error).__name__)
        return None
