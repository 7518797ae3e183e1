"""Arrow and Parquet open files in C++, by a path, which Hugging Face's datasets have written in Python."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace

# Of each function the argument that may be a path: where it stands, and its name.
READING = {
    "pyarrow": {"input_stream": (0, "source")},
    "pyarrow.csv": {"open_csv": (0, "input_file"), "read_csv": (0, "input_file")},
    "pyarrow.feather": {"read_feather": (0, "source"), "read_table": (0, "source")},
    "pyarrow.ipc": {"open_file": (0, "source"), "open_stream": (0, "source")},
    "pyarrow.json": {"open_json": (0, "input_file"), "read_json": (0, "input_file")},
    "pyarrow.parquet.core": {
        "read_metadata": (0, "where"),
        "read_schema": (0, "where"),
        "read_table": (0, "source"),
    },
}
WRITING = {
    "pyarrow": {"create_memory_map": (0, "path"), "output_stream": (0, "source")},
    "pyarrow.csv": {"write_csv": (1, "output_file")},
    "pyarrow.feather": {"write_feather": (1, "dest")},
    "pyarrow.ipc": {"new_file": (0, "sink"), "new_stream": (0, "sink")},
}


def patch(module: ModuleType) -> None:
    """``pyarrow`` itself, or a module of it that has functions of its own."""
    for functions, real in ((READING, _for_reading), (WRITING, _for_writing)):
        for name, (at, argument) in functions.get(module.__name__, {}).items():
            original = getattr(module, name, None)
            if original is not None:
                replace(module, name, _led(original, at, argument, real))
    if module.__name__ == "pyarrow":
        replace(module, "memory_map", _by_mode(module.memory_map))
        module.OSFile = _file(module.OSFile)  # type: ignore[attr-defined]


def patch_parquet(module: ModuleType) -> None:
    patch(module)
    # All that writes Parquet makes one of these.
    for owner, argument, real in (
        (module.ParquetWriter, "where", _for_writing),
        (module.ParquetFile, "source", _for_reading),
    ):
        owner.__init__ = _led(owner.__init__, 1, argument, real)


def _led(original: Any, at: int, argument: str, real: Callable[[Any], Any]) -> Any:
    @functools.wraps(original)
    def opening(*args: Any, **kwargs: Any) -> Any:
        # Paths of another file system than the local one are its own affair.
        if kwargs.get("filesystem") is None:
            if argument in kwargs:
                kwargs[argument] = real(kwargs[argument])
            elif len(args) > at:
                args = (*args[:at], real(args[at]), *args[at + 1 :])
        return original(*args, **kwargs)

    return opening


def _by_mode(original: Any) -> Any:
    def memory_map(path: Any, mode: str = "r") -> Any:
        return original(_for_mode(path, mode), mode)

    return memory_map


def _file(original: Any) -> Any:
    class OSFile(original):  # type: ignore[misc]
        def __new__(cls, path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            return super().__new__(cls, _for_mode(path, mode), mode, *args, **kwargs)

    OSFile.__module__, OSFile.__qualname__ = original.__module__, original.__qualname__
    return OSFile


def _for_mode(path: Any, mode: str) -> Any:
    if not set(mode) & set("wa+"):
        return _for_reading(path)
    return _for_writing(path, keep="w" not in mode)


def _for_reading(path: Any) -> Any:
    if isinstance(path, (list, tuple)):
        return [_for_reading(one) for one in path]
    return layer.for_reading(path) if _is_local(path) else path


def _for_writing(path: Any, keep: bool = False) -> Any:
    return layer.for_writing(path, keep=keep) if _is_local(path) else path


def _is_local(path: Any) -> bool:
    """Whether it is a path, and neither an open file nor an address."""
    return isinstance(path, (str, bytes, os.PathLike)) and "://" not in layer.text(path)
