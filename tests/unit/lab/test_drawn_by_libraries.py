"""Whose start a weight's first values are: a library's model, or the program's."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from torch import nn

from firstcause.lab.drawn_by_libraries import weights_of_libraries

LIBRARY = """
from torch import nn

class Block(nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.inner = inner

class Drawn(nn.Module):
    def _init_weights(self, module):
        pass
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "a_library_of_blocks.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("a_library_of_blocks")
    del sys.modules["a_library_of_blocks"]


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 2)


def test_a_models_own_class_decides(library: ModuleType) -> None:
    wrapped = library.Block(inner=Head())
    outer = nn.Sequential(library.Block(), Head())
    foreign = weights_of_libraries()

    assert id(wrapped.layers[0].weight) in foreign
    assert id(outer[0].layers[0].bias) in foreign
    assert id(wrapped.inner.out.weight) not in foreign
    assert id(outer[1].out.weight) not in foreign


def test_a_subclass_that_a_library_draws_is_the_librarys(library: ModuleType) -> None:
    class Own(library.Drawn):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.head = Head()

    class Redrawn(Own):
        def _init_weights(self, module: nn.Module) -> None:
            nn.init.zeros_(module.weight)

    own, redrawn = Own(), Redrawn()
    foreign = weights_of_libraries()

    assert id(own.head.out.weight) in foreign
    assert id(redrawn.head.out.weight) not in foreign
