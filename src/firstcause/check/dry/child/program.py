"""The user's script as ``__main__``, and its own modules, with their loops under the horizon."""

from __future__ import annotations

import ast
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from firstcause.check.dry.child.loops import transformed

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        code: CodeType = transformed(self.get_data(path), path)
        return code


class Finder(MetaPathFinder):
    """The user's own modules, transformed as the script is."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] in ("torch", "firstcause"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if (
            spec is None
            or type(spec.loader) is not SourceFileLoader
            or not self.session.owns(spec.origin or "")
        ):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def run(session: Session, script: str, arguments: list[str]) -> None:
    """Run a script with its own arguments, as Python would."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    sys.meta_path.insert(0, Finder(session))
    path = os.path.abspath(script)
    with open(path, "rb") as file:
        raw = file.read()
    code = transformed(_cells(path, raw) if path.endswith(".ipynb") else raw, path)
    main = ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _cells(path: str, raw: bytes) -> ast.Module:
    """The cells of a notebook as one module, each line as it is counted in the file."""
    from firstcause.source.notebooks import Notebook

    notebook = Notebook(path, path, raw)
    for node in ast.walk(notebook.tree):
        for name in ("lineno", "end_lineno"):
            line = getattr(node, name, None)
            if line is not None:
                setattr(node, name, notebook.raw_line(line))
    return notebook.tree
