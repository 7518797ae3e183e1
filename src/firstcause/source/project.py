"""The user's program as a set of files, found by following imports from its script and parsed when asked for."""

from __future__ import annotations

import ast
import os
import stat
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from firstcause.schema import Site
from firstcause.source.configs.file import FORMATS, ConfigFile
from firstcause.source.configs.literal import NotRead, Refused
from firstcause.source.module import MAX_BYTES, Module, display_name
from firstcause.source.notebooks import MAX_NOTEBOOK_BYTES, Broken, Notebook
from firstcause.source.written_imports import WrittenImports

# A program of more files is read in part; the walk from its script meets the nearest first.
MAX_FILES = 500
# Larger ones are data, whatever their ending.
MAX_CONFIG_BYTES = 400_000


@dataclass(frozen=True)
class Unreadable:
    """A file that cannot be parsed: where, and what the parser said; ``refused`` where we, not its format, say no.

    ``cell`` and ``cell_line`` count from 1 in a notebook.
    """

    site: Site
    message: str
    refused: bool = False
    cell: int = 0
    cell_line: int = 0


class Project:
    """Files beneath a root folder and whatever they import from it; nothing is run.

    ``files`` are the starting points; ``search`` the folders in which an import is looked for, the
    root among them. ``configured`` is whether values are followed into config files and launch scripts: not where a run
    is looked at, whose own command line said what it was.
    """

    def __init__(
        self, root: str, files: Iterable[str], search: Iterable[str] = (), shown_from: str | None = None
    ) -> None:
        self.root = os.path.abspath(root)
        # The folder from which paths are written, where the user is not at the root.
        self.shown_from = os.path.abspath(shown_from or root)
        self.files = tuple(os.path.abspath(os.path.join(self.root, f)) for f in files)
        self.search = tuple(dict.fromkeys([*(os.path.abspath(s) for s in search), self.root]))
        self.configured = True
        # Whether the starting files are all that there is to look through; imports are still resolved.
        self.closed = False
        # More files than this, those that only imports reach included, are a library: the starting files alone are it.
        self.most = MAX_FILES
        # Whether there were more, once somebody has asked for the modules.
        self.cut = False
        # By path; a notebook's cells by path and number.
        self.unreadable: dict[str, Unreadable] = {}
        # What later readings of the whole project keep here, by name.
        self.memory: dict[str, Any] = {}
        # How many steps one question about a value may take; None for the walk's own bound.
        self.effort: int | None = None
        self.resolved: dict[ast.AST, Any] = {}
        self.callees: dict[ast.AST, Any] = {}
        # Files that are read as something else than what lies on disk.
        self.replaced: set[str] = set()
        self._modules: dict[str, Module | None] = {}
        self._configs: dict[str, ConfigFile | None] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._absolute: dict[str, str | None] = {}

    @classmethod
    def of_script(cls, path: str, root: str | None = None) -> Project:
        """The program that starts in ``path``; ``root`` is the folder it is run from, by default the current one."""
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        root = os.path.abspath(root or os.getcwd())
        if os.path.relpath(path, root).startswith(".."):
            root = folder
        project = cls(root, [path], [folder])
        project.configured = False
        return project

    def part(self, files: Iterable[str], closed: bool = False) -> Project:
        """A program among the files: the same parsed files, its own folders, memory and answers."""
        chosen = [os.path.abspath(os.path.join(self.root, f)) for f in files]
        part = Project(self.root, chosen, sorted({os.path.dirname(f) for f in chosen}), self.shown_from)
        part.configured, part.closed, part.effort = self.configured, closed, self.effort
        part._modules, part._configs, part._found = self._modules, self._configs, self._found
        part.unreadable = self.unreadable
        return part

    def module(self, path: str) -> Module | None:
        """The parsed file at a path (absolute, or relative to the root), or None where it cannot be read."""
        path = os.path.abspath(os.path.join(self.root, path))
        if path not in self._modules:
            self._modules[path] = self._parse(path)
        return self._modules[path]

    @cached_property
    def modules(self) -> list[Module]:
        """Every file that the starting points reach by imports, in the order in which they are met."""
        if not self.closed:
            most = max(self.most, len(self.files))
            # What is written finds a few imports too many, in texts, and costs a tenth of parsing.
            self.cut = self._written(most * 5 // 4)
            found = [] if self.cut else self.reached_from(*self.files)
            self.cut = self.cut or len(found) > most
            if not self.cut:
                return found
        return [m for m in map(self.module, self.files) if m is not None]

    def reached_from(self, *files: str) -> list[Module]:
        """Some files and what they import, through others too."""
        waiting, seen = list(files), set(files)
        found: list[Module] = []
        while waiting and len(found) < max(min(MAX_FILES, self.most + 1), len(files)):
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

    def _written(self, limit: int) -> bool:
        """Whether the imports of the starting files, as they are written, lead to more files than a limit."""
        waiting, seen, written = list(self.files), set(self.files), WrittenImports()
        while waiting and len(seen) <= limit:
            importer = waiting.pop(0)
            for level, dotted, names in written.of(importer):
                prefix = f"{dotted}." if dotted and names else dotted
                for name in (dotted, *(prefix + n for n in names)):
                    path = self._found_from(importer, name, level)
                    if path and path not in seen:
                        seen.add(path)
                        waiting.append(path)
        return len(seen) > limit

    def replace(self, path: str, raw: bytes) -> None:
        """Read a file as if this stood in it; raises ``SyntaxError`` where that is no Python."""
        path = os.path.abspath(os.path.join(self.root, path))
        self._modules[path] = Module(path, display_name(path, self.shown_from), raw)
        self.replaced.add(path)

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
        return self._found_from(importer.path if importer is not None else "", dotted, level)

    def _found_from(self, importer: str, dotted: str, level: int) -> str | None:
        if level and importer:
            folder = os.path.dirname(importer)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._file(folder, dotted)
        if dotted not in self._absolute:
            places = self._tops.get(dotted.partition(".")[0], ()) if dotted else self.search
            files = (self._file(folder, dotted) for folder in places)
            self._absolute[dotted] = next((f for f in files if f), None)
        return self._absolute[dotted]

    @cached_property
    def _tops(self) -> dict[str, list[str]]:
        """The folders of the search in which something of a name stands: most imports are of libraries, found nowhere."""
        found: dict[str, list[str]] = {}
        for folder in self.search:
            try:
                names = {os.path.splitext(n)[0] if n.endswith(".py") else n for n in os.listdir(folder)}
            except OSError:
                continue
            for name in names:
                found.setdefault(name, []).append(folder)
        return found

    def has_top(self, name: str) -> bool:
        """Whether a file or folder of a name stands where imports are looked for."""
        return name in self._tops

    def _file(self, folder: str, dotted: str) -> str | None:
        key = (folder, dotted)
        if key not in self._found:
            base = os.path.join(folder, *dotted.split(".")) if dotted else folder
            places = (base + ".py", os.path.join(base, "__init__.py"))
            self._found[key] = next((p for p in places if os.path.isfile(p)), None)
        return self._found[key]

    def config(self, path: str, told: bool = True) -> ConfigFile | None:
        """The YAML, JSON or TOML file at a path (absolute, or relative to the root), or None where it cannot be read.

        That is ``told`` among what is unreadable, unless no code reads the file.
        """
        path = os.path.abspath(os.path.join(self.root, path))
        suffix = os.path.splitext(path)[1].lower()
        if suffix not in FORMATS:
            return None
        if path not in self._configs:
            found = self._guarded(
                path, MAX_CONFIG_BYTES, lambda name, raw: ConfigFile(path, name, raw, suffix)
            )
            if not told:
                self.unreadable.pop(path, None)
            self._configs[path] = found if isinstance(found, ConfigFile) else None
        return self._configs[path]

    @property
    def configs(self) -> list[ConfigFile]:
        """The config files that have been read so far."""
        return [c for c in self._configs.values() if c is not None]

    def _parse(self, path: str) -> Module | None:
        if not path.endswith(".ipynb"):
            return self._guarded(path, MAX_BYTES, lambda name, raw: Module(path, name, raw))
        found = self._guarded(path, MAX_NOTEBOOK_BYTES, lambda name, raw: Notebook(path, name, raw))
        if isinstance(found, Notebook):
            for broken in found.broken:
                self.unreadable[f"{path}#{broken.cell:05}"] = _of_cell(found, broken)
        return found

    def _guarded(self, path: str, limit: int, make: Callable[[str, bytes], Module]) -> Module | None:
        """A file as a module; where it cannot be one, that is kept in ``unreadable``."""
        name = display_name(path, self.shown_from)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise Refused(1, "no regular file")
            with open(path, "rb") as file:
                raw = file.read(limit + 1)
            if len(raw) > limit:
                raise Refused(1, f"larger than {limit} bytes, more than anybody writes by hand")
            with warnings.catch_warnings():
                # The parser's remarks on old escapes are for whoever runs the code.
                warnings.simplefilter("ignore")
                return make(name, raw)
        except SyntaxError as error:
            site = Site(name, error.lineno or 1, "", (error.text or "").strip())
            self.unreadable[path] = Unreadable(site, error.msg)
        except NotRead as error:
            self.unreadable[path] = Unreadable(Site(name, error.line), str(error), isinstance(error, Refused))
        except (OSError, RecursionError, MemoryError) as error:
            self.unreadable[path] = Unreadable(Site(name, 1), str(error) or type(error).__name__, True)
        except (ValueError, LookupError) as error:
            # A codec that makes no text, such as rot13, is a LookupError.
            self.unreadable[path] = Unreadable(Site(name, 1), str(error) or type(error).__name__)
        return None


def _of_cell(module: Module, broken: Broken) -> Unreadable:
    site = Site(module.name, broken.line, "", broken.text)
    return Unreadable(site, broken.message, False, broken.cell, broken.cell_line)
