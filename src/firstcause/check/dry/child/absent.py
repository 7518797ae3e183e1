"""Libraries that are not installed, played by objects that take every call and give back one like themselves."""

from __future__ import annotations

import ast
import linecache
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

names: list[str] = []


class Anything:
    """Whatever it is asked for, it is; a value that it gives is made up."""

    def __init__(self, name: str, session: Session) -> None:
        self.__dict__.update(fc_name=name, fc_session=session)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Anything(f"{self.fc_name}.{name}", self.fc_session)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]) and hasattr(args[0], "__code__"):
            return args[0]
        if self.fc_name.startswith("tqdm") and args:
            return args[0]
        return Anything(f"{self.fc_name}()", self.fc_session)

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (object,)

    def __getitem__(self, key: Any) -> Any:
        return Anything(f"{self.fc_name}[]", self.fc_session)

    def __setitem__(self, key: Any, value: Any) -> None:
        return None

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        self.fc_session.made_up()
        return 1

    def __bool__(self) -> bool:
        self.fc_session.made_up()
        return True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    def __float__(self) -> float:
        return 1.0

    def __int__(self) -> int:
        return 1

    __index__ = __int__


class Finder(MetaPathFinder, Loader):
    """The last on ``sys.meta_path``: asked only for what nobody has."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top in names or (path is None and self._asked_for(top)):
            return ModuleSpec(name, self, is_package=True)
        return None

    def _asked_for(self, top: str) -> bool:
        """Whether the user's own import statement asks, and does not know what to do without."""
        frame = sys._getframe(1)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back  # type: ignore[assignment]
        while frame is not None and frame.f_code.co_filename in (__file__, "<frozen importlib._bootstrap>"):
            frame = frame.f_back  # type: ignore[assignment]
        if frame is None or not self.session.owns(frame.f_code.co_filename):
            return False
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
        line = frame.f_lineno
        tried = any(
            n.body[0].lineno <= line <= (n.body[-1].end_lineno or 0)
            for n in ast.walk(tree)
            if isinstance(n, ast.Try) and n.handlers
        )
        # What a compiled library imports for itself (pyarrow asks for pandas) has the caller's frame above it.
        if tried or not any(_imports(n) for n in ast.walk(tree) if _covers(n, line)):
            return False
        names.append(top)
        self.session.note(f"{top} is not installed: what it would do is not known to the dry run")
        return True

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        session = self.session

        def anything(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return Anything(f"{spec.name}.{name}", session)

        module.__getattr__ = anything  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None:
        return None


def _covers(node: ast.AST, line: int) -> bool:
    first = getattr(node, "lineno", None)
    return first is not None and first <= line <= getattr(node, "end_lineno", first)


def _imports(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return called in ("__import__", "import_module")
    return isinstance(node, ast.Import | ast.ImportFrom)
