"""Whether the model is the same on all ranks: checksums of its weights and gradients at some steps."""

from __future__ import annotations

import re
import sys
import weakref
from itertools import islice
from types import ModuleType
from typing import Any

from firstcause.lab import places
from firstcause.lab.ranked import Watcher, around
from firstcause.lab.ranked.fingerprint import checksum

# Compared at these steps: most partings show at the first or soon after.
STEPS = frozenset({0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987})
# Beyond this many elements only the first parameters are read.
MOST_ELEMENTS = 50_000_000
DEEPEST = 8


class Replicas(Watcher):
    """The parameters that the optimizer holds, by name, and where the model that holds them was made."""

    PATCHES = ("torch.nn.modules.module", "torch.nn.parallel.distributed")

    def __init__(self) -> None:
        self.modules: list[weakref.ref[Any]] = []
        self.made: dict[int, dict[str, Any] | None] = {}
        self.wrapper: type | None = None
        self.checks: list[dict[str, Any]] = []
        self.steps = 0

    def patch(self, module: ModuleType) -> None:
        if module.__name__.endswith("distributed"):
            self.wrapper = module.DistributedDataParallel
            return
        watch = self

        def init(original: Any) -> Any:
            def __init__(own: Any, *args: Any, **kwargs: Any) -> None:
                original(own, *args, **kwargs)
                watch.modules.append(weakref.ref(own))
                watch.made[id(own)] = _builder()

            return __init__

        around(module.Module, "__init__", init)

    def stepped(self, optimizer: Any) -> None:
        step, self.steps = self.steps, self.steps + 1
        if step not in STEPS:
            return
        held = [p for group in optimizer.param_groups for p in group["params"]]
        if sum(p.numel() for p in held) > MOST_ELEMENTS or any(
            type(p.data).__name__ == "DTensor" for p in held
        ):
            return
        root, names, wrapped = self._root(held)
        self.checks.append(
            {
                "step": step,
                "made": self.made.get(id(root)) if root is not None else None,
                "wrapped": wrapped,
                "parameters": [
                    [
                        names.get(id(p), str(i)),
                        list(p.shape),
                        checksum(p),
                        checksum(p.grad) if p.grad is not None and not p.grad.is_sparse else None,
                        float(p.detach().double().norm()),
                    ]
                    for i, p in enumerate(held)
                ],
            }
        )

    def _root(self, held: list[Any]) -> tuple[Any, dict[int, str], bool]:
        """The outermost module of the program's own that holds these parameters, their names in it, and whether DDP holds it."""
        alive = [m for r in self.modules if (m := r()) is not None and hasattr(m, "_modules")]
        self.modules = [weakref.ref(m) for m in alive]
        wanted = {id(p) for p in held}
        wrapped = False
        found: tuple[Any, dict[int, str], int] = (None, {}, 0)
        for module in alive:
            names = {id(p): n for n, p in module.named_parameters()}
            covers = len(wanted & names.keys())
            if self.wrapper is not None and isinstance(module, self.wrapper):
                wrapped = wrapped or covers > 0
            elif covers > found[2] or (covers == found[2] and covers and len(names) > len(found[1])):
                found = module, names, covers
        return found[0], found[1], wrapped

    def facts(self) -> Any:
        return {"steps": self.steps, "checks": list(self.checks)}


def _builder() -> dict[str, Any] | None:
    """The line that builds a module: the innermost one that gives it a name outside of any ``__init__``, else the innermost."""
    first = None
    for frame in islice(places.user_frames(sys._getframe(1)), DEEPEST):
        if frame.f_code.co_name in ("__init__", "<listcomp>", "<genexpr>"):
            continue
        place = places.standing(frame)
        if re.match(r"[\w.]+\s*=[^=]", place["text"]):
            return place
        first = first or place
    return first
