"""The import hook: the user's own modules are compiled with marks, and some libraries are met as they load."""

from __future__ import annotations

import importlib.abc
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from firstcause.installed import is_installed
from firstcause.record.observe import library_loops
from firstcause.record.observe.mainscript import ModuleLoader
from firstcause.record.observe.reach import Reach

if TYPE_CHECKING:
    from firstcause.record.observe.session import Session

# Our own package is never marked, also where its checkout is the user's working directory.
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Finder(importlib.abc.MetaPathFinder):
    """First on sys.meta_path; answers only for the user's modules that hold a candidate, and for ``after``."""

    def __init__(self, session: Session, after: dict[str, list[Any]]) -> None:
        self.session = session
        self.after = after
        self.roots: list[str] = []
        self.reach: Reach | None = None
        scheme = sysconfig.get_paths()
        self._installed = tuple(
            {os.path.realpath(scheme[k]) + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")}
        )

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self.after:
            return self._meet(fullname, path, target, self.after.pop(fullname))
        if fullname in library_loops.MODULES or self._ours(fullname, path):
            return self._marking(fullname, path, target)
        return None

    def meet(self, patches: Mapping[str, Callable[[ModuleType], None]]) -> None:
        """Patch modules as they load, from now on."""
        for name, patch in patches.items():
            self.after.setdefault(name, []).append(patch)

    def is_project_file(self, path: str) -> bool:
        """Whether a file is the user's own: in no installed tree and not ours."""
        real = os.path.realpath(path)
        return not real.startswith((*self._installed, PACKAGE + os.sep)) and not is_installed(real)

    def marked_code(self, path: str, main: bool = False) -> CodeType | None:
        """The file compiled with marks, or None where nothing is to be marked; a ``__main__`` always is."""
        from firstcause.record.observe import marks

        try:
            library = library_loops.module_of(path)
            if self.session.off or not (library or self.is_project_file(path)):
                return None
            if self.reach is None:
                self.reach = Reach(path, [os.path.dirname(os.path.abspath(path)), os.getcwd()])
            return marks.compile_marked(path, self.reach, main, library)
        except Exception:
            self.session.failed(f"marks in {path}")
            return None

    def _ours(self, fullname: str, path: Sequence[str] | None) -> bool:
        """A cheap test that spares the thousand imports of torch a second search."""
        if path is not None:
            return any(self.is_project_file(os.path.join(p, "")) for p in path)
        if fullname in sys.builtin_module_names or fullname == "firstcause":
            return False
        roots = [
            p or os.getcwd() for p in sys.path if self.is_project_file(os.path.join(p or os.getcwd(), ""))
        ]
        return any(
            os.path.exists(os.path.join(r, fullname + ".py")) or os.path.isdir(os.path.join(r, fullname))
            for r in roots
        )

    def _marking(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
            return None
        code = self.marked_code(spec.origin, main=fullname == "__main__")
        if code is None:
            return None
        if fullname == "__main__":
            # A folder or archive given to Python: runpy runs its __main__.py.
            spec.loader = ModuleLoader(spec.loader, code)
            return spec
        spec.loader = MarkingLoader(spec.loader.name, spec.loader.path, code)
        return spec

    def _meet(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None,
        calls: list[Callable[[ModuleType], None]],
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = MeetingLoader(spec.loader, calls, self.session)
                return spec
        return None


class MarkingLoader(SourceFileLoader):
    """Python's own loader, but for the code that it runs; the .pyc is read and written as without us."""

    def __init__(self, fullname: str, path: str, code: CodeType) -> None:
        super().__init__(fullname, path)
        self._marked = code

    def get_code(self, fullname: str) -> CodeType | None:
        super().get_code(fullname)
        # Before the module's first line, which may look at its own loader. Here and not in exec_module, whose
        # frame would stand in every traceback of an import that fails.
        module = sys.modules.get(fullname)
        if module is not None and module.__spec__ is not None:
            module.__loader__ = module.__spec__.loader = SourceFileLoader(self.name, self.path)
        return self._marked


class MeetingLoader(importlib.abc.Loader):
    """Loads a module as its own loader does, puts that loader back, and then calls us with the module."""

    def __init__(self, loader: Any, calls: list[Callable[[ModuleType], None]], session: Session) -> None:
        self._loader, self._calls, self._session = loader, calls, session

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._loader, attribute)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        for call in self._calls:
            try:
                call(module)
            except Exception:
                self._session.failed(f"on import of {module.__name__}")
