"""How much memory a step needs on the device, for the sizes that the program really has.

Seen: what is alive on the emulated device, after forward, after backward and after a step. No fault: a note.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.names import NAME
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.watcher import Watcher

# Copies of each parameter that an optimizer keeps beside it.
KEPT = {"Adam": 2, "AdamW": 2, "NAdam": 2, "RAdam": 2, "Adamax": 2, "Adadelta": 2, "RMSprop": 1, "Adagrad": 1}


def size(tensors: list[Any]) -> int:
    return sum(
        t.numel() * t.element_size() for t in {id(t): t for t in tensors}.values() if t.device.type == NAME
    )


class Memory(Watcher):
    SLUG = "memory-estimate"

    def ended(self) -> None:
        parameters = [p for o in everywhere() for p in held(o)]
        weights, trained = size(parameters), size([p for p in parameters if p.requires_grad])
        if not weights:
            return
        kept = sum(
            KEPT.get(type(o).__name__, _momentum(o)) * size([p for p in held(o) if p.requires_grad])
            for o in everywhere()
        )
        self.session.note(
            f"memory on the device without activations: {_shown(weights)} of parameters, {_shown(trained)} of gradients, "
            f"{_shown(kept)} of optimizer state"
        )


def _momentum(optimizer: Any) -> int:
    return 1 if optimizer.defaults.get("momentum") else 0


def _shown(number: int) -> str:
    return f"{number / (1 << 30):.2f} GiB" if number >= 1 << 28 else f"{number / (1 << 20):.1f} MiB"
