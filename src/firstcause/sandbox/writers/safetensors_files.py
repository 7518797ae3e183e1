"""safetensors writes and maps files in Rust."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace


def patch(module: ModuleType) -> None:
    write = module.serialize_file

    def serialize_file(tensor_dict: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
        return write(tensor_dict, layer.for_writing(filename), *args, **kwargs)

    replace(module, "serialize_file", serialize_file)
    for name in ("safe_open", "_safe_open_handle"):
        if hasattr(module, name):
            replace(module, name, _reading(getattr(module, name)))


def _reading(original: Any) -> Any:
    def safe_open(filename: Any, *args: Any, **kwargs: Any) -> Any:
        return original(layer.for_reading(filename), *args, **kwargs)

    return safe_open
