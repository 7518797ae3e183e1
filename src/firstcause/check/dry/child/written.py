"""Modules that the program has written itself, as caches of downloaded code: they lie in the copy, where no import looks."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from typing import Any


class _Loader(SourceFileLoader):
    def get_data(self, path: Any) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Finder(MetaPathFinder):
    """Behind all others: asks for files as the program itself sees them."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        last = name.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            base = os.path.join(folder, last)
            for file in (os.path.join(base, "__init__.py"), base + ".py"):
                if os.path.isfile(file):
                    inside = [base] if file.startswith(base + os.sep) else None
                    return spec_from_file_location(
                        name, file, loader=_Loader(name, file), submodule_search_locations=inside
                    )
        return None
