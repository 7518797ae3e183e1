"""Operators that a run has compiled are taken as they lie there; what is not there is asked for as ever."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from firstcause.sandbox.writers import built_operators


class Compilers(ModuleType):
    """The two functions of ``torch.utils.cpp_extension`` that count, and what was asked of them."""

    def __init__(self, root: Path) -> None:
        super().__init__("torch.utils.cpp_extension")
        self.started: list[str] = []
        self.root = root

        def compiled(
            name: str, sources: list[str], build_directory: str, is_python_module: bool, is_standalone: bool
        ) -> str:
            self.started.append(name)
            return "compiled"

        self._jit_compile: Any = compiled

    def _import_module_from_library(self, name: str, folder: str, is_python_module: bool) -> str:
        return f"imported {name} from {os.path.basename(folder)}"

    def _get_build_directory(self, name: str, verbose: bool) -> str:
        return str(self.root / name)


@pytest.fixture
def compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compilers:
    found = Compilers(tmp_path)
    monkeypatch.setitem(sys.modules, found.__name__, found)
    return found


def built(root: Path, newer: bool = False) -> str:
    source, library = root / "op.cpp", root / "op" / "op.so"
    library.parent.mkdir(exist_ok=True)
    for path, age in ((source, 50 if newer else 200), (library, 100)):
        path.write_text("")
        os.utime(path, (1e9 - age, 1e9 - age))
    return str(source)


def asked(compilers: Compilers, source: str, standalone: bool = False) -> Any:
    return compilers._jit_compile("op", [source], str(compilers.root / "op"), True, standalone)


def test_what_the_run_has_built_is_imported_and_no_compiler_started(
    compilers: Compilers, tmp_path: Path
) -> None:
    built_operators.patch_torch(compilers)

    assert asked(compilers, built(tmp_path)) == "imported op from op"
    assert compilers.started == []


def test_changed_missing_and_standalone_builds_are_asked_for_as_ever(
    compilers: Compilers, tmp_path: Path
) -> None:
    built_operators.patch_torch(compilers)

    assert asked(compilers, str(tmp_path / "never.cpp")) == "compiled"
    assert asked(compilers, built(tmp_path, newer=True)) == "compiled"
    assert asked(compilers, built(tmp_path), standalone=True) == "compiled"


def test_deepspeeds_builder_asks_for_no_ninja_where_its_library_is_there(
    compilers: Compilers, tmp_path: Path
) -> None:
    class OpBuilder:
        _loaded_ops: dict[str, Any] = {}  # noqa: RUF012
        name = "op"

        def sources(self) -> list[str]:
            return ["op.cpp"]

        def deepspeed_src_path(self, path: str) -> str:
            return str(tmp_path / path)

        def jit_load(self, verbose: bool = True) -> str:
            return "compiled"

    built_operators.patch_deepspeed(SimpleNamespace(OpBuilder=OpBuilder))  # type: ignore[arg-type]

    assert OpBuilder().jit_load() == "compiled"
    built(tmp_path)
    assert OpBuilder().jit_load(verbose=False) == "imported op from op"
    assert OpBuilder._loaded_ops == {"op": "imported op from op"}
