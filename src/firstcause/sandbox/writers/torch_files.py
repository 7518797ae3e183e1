"""``torch.save``, ``torch.load`` and memory-mapped storages: they open their files in C++."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace


def patch_serialization(module: ModuleType) -> None:
    _map_first(module._open_zipfile_writer_file, layer.for_writing)
    _map_first(
        module._open_zipfile_reader, lambda name: layer.for_reading(name) if isinstance(name, str) else name
    )


def _map_first(opener: Any, real: Any) -> None:
    original = opener.__init__

    def opening(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        with layer.errors_name(name):
            original(self, real(name), *args, **kwargs)

    opener.__init__ = opening


def patch_torch(module: ModuleType) -> None:
    replace(module, "from_file", _mapped(module.from_file))
    storage = module.UntypedStorage
    storage.from_file = staticmethod(_mapped(storage.from_file))


def _mapped(original: Any) -> Any:
    def from_file(filename: Any, shared: Any = None, *args: Any, **kwargs: Any) -> Any:
        # A shared mapping writes through to the file, and makes the file where there is none.
        real = layer.for_writing(filename, keep=True) if shared else layer.for_reading(filename)
        return original(real, shared, *args, **kwargs)

    return from_file
