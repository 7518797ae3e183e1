"""Operators that a program compiles as it starts, taken from where the recorded run has left them.

Compilers, and what asks for them, are processes, which a sealed one may not start. What was compiled from sources that have
changed since, or never was, is asked for as always, and refused.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

ENDING = ".so"


def patch_torch(module: ModuleType) -> None:
    """``torch.utils.cpp_extension.load`` and ``load_inline``, which both end in the function that is replaced here."""
    original = module._jit_compile
    signature = inspect.signature(original)

    def compiled(*args: Any, **kwargs: Any) -> Any:
        asked = signature.bind(*args, **kwargs).arguments
        name, folder = asked["name"], asked["build_directory"]
        if asked.get("is_standalone") or not _is_built(name, folder, asked["sources"]):
            return original(*args, **kwargs)
        return module._import_module_from_library(name, folder, asked["is_python_module"])

    module._jit_compile = compiled  # type: ignore[attr-defined]


def patch_deepspeed(module: ModuleType) -> None:
    """DeepSpeed's builders, which ask for ninja and for the processor before they come to torch."""
    kind = module.OpBuilder
    original = kind.jit_load

    def jit_load(builder: Any, *args: Any, **kwargs: Any) -> Any:
        torch_builds = importlib.import_module("torch.utils.cpp_extension")
        folder = torch_builds._get_build_directory(builder.name, False)
        sources = [builder.deepspeed_src_path(path) for path in builder.sources()]
        if not _is_built(builder.name, folder, sources):
            return original(builder, *args, **kwargs)
        found = torch_builds._import_module_from_library(builder.name, folder, True)
        kind._loaded_ops[builder.name] = found
        return found

    kind.jit_load = jit_load


def _is_built(name: str, folder: str, sources: str | Iterable[str]) -> bool:
    """Whether the library is there, and no source of it is newer."""
    library = os.path.join(folder, name + ENDING)
    files = [sources] if isinstance(sources, str) else list(sources)
    try:
        made = os.stat(library).st_mtime
        return all(os.stat(file).st_mtime <= made for file in files)
    except OSError:
        # Never built, or built from what is gone.
        return False
