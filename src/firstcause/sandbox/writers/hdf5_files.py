"""HDF5 opens files in C, by a path or a name that h5py hands down."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from firstcause.sandbox.writers import layer


def patch(module: ModuleType) -> None:
    original = module.File.__init__

    def opening(self: Any, name: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> None:
        if isinstance(name, (str, bytes, os.PathLike)):
            writes = mode is not None and mode != "r"
            name = layer.for_writing(name, keep=mode in ("r+", "a")) if writes else layer.for_reading(name)
        original(self, name, mode, *args, **kwargs)

    module.File.__init__ = opening
