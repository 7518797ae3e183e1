"""The files that this rank writes as a whole: checkpoints, weights, arrays, results."""

from __future__ import annotations

import os
import sys
import time
from types import ModuleType
from typing import Any

from firstcause.lab import places
from firstcause.lab.ranked import Watcher, around

# What others read again; logs are written by every rank on purpose, or by mistake without harm.
WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".onnx")
KINDS = (*WEIGHTS, ".npz", ".npy", ".pkl", ".pickle", ".json", ".yaml", ".csv")
MOST = 200


class Files(Watcher):
    """Each file that was written from its start, and by which line; files that were loaded again."""

    PATCHES = ("torch.serialization",)

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.read: list[dict[str, Any]] = []
        self.active = False
        self.within = False
        sys.addaudithook(self._event)

    def ranked(self) -> None:
        self.active = True

    def patch(self, module: ModuleType) -> None:
        watch = self

        def save(original: Any) -> Any:
            def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
                watch.note(watch.written, f, "torch.save", places.of_frame(sys._getframe(1), columns=True))
                watch.within = True
                try:
                    return original(obj, f, *args, **kwargs)
                finally:
                    watch.within = False

            return save

        def load(original: Any) -> Any:
            def load(f: Any, *args: Any, **kwargs: Any) -> Any:
                watch.note(watch.read, f, "torch.load", places.of_frame(sys._getframe(1)))
                return original(f, *args, **kwargs)

            return load

        around(module, "save", save)
        around(module, "load", load)

    def note(self, where: list[dict[str, Any]], file: Any, how: str, site: dict[str, Any] | None) -> None:
        path = file if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
        if self.active and isinstance(path, (str, os.PathLike)) and site is not None and len(where) < MOST:
            where.append({"path": os.path.realpath(path), "how": how, "site": site, "time": time.time()})

    def _event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active or self.within or event not in ("open", "os.rename"):
            return
        if event == "open":
            path, mode = arguments[:2]
            writes = isinstance(mode, str) and mode[:1] in ("w", "x")
        else:
            path, writes = arguments[1], True
        if writes and isinstance(path, (str, os.PathLike)) and os.fspath(path).endswith(KINDS):
            how = "rename" if event == "os.rename" else "open"
            self.note(self.written, path, how, places.of_frame(sys._getframe(1)))

    def facts(self) -> Any:
        return {"written": list(self.written), "read": list(self.read)}
