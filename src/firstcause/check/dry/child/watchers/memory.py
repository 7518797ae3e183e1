"""How much memory a step needs on the device, for the sizes that the program really has.

Seen: what is alive on the emulated device in forward, in backward and in a step, by the storages of its tensors. What a real
allocator and the kernels' own workspaces take on top is not seen. No fault: a note.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child import held as alive
from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.names import NAME
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.watcher import Watcher

# Copies of each parameter that an optimizer keeps beside it.
KEPT = {"Adam": 2, "AdamW": 2, "NAdam": 2, "RAdam": 2, "Adamax": 2, "Adadelta": 2, "RMSprop": 1, "Adagrad": 1}


def size(tensors: list[Any]) -> int:
    """Bytes on the device, each tensor once."""
    each = {id(t): t for t in tensors}.values()
    return sum(t.numel() * t.element_size() for t in each if t.device.type == NAME)


class Memory(Watcher):
    SLUG = "memory-estimate"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.peaks = {"forward": 0, "backward": 0, "step": 0}
        self.activations = 0
        self.models: dict[int, Any] = {}

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        self.models[id(module)] = module

    def backward(self, root: Any) -> None:
        self._passed("forward")
        parameters = self._parameters()
        grads = size([p.grad for p in parameters if p.grad is not None])
        counted = size([p for p in parameters if alive.has(p)])
        self.activations = max(self.activations, alive.now - grads - counted - _state())

    def backward_done(self, root: Any) -> None:
        self._passed("backward")

    def step(self, optimizer: Any) -> None:
        alive.phase()

    def stepped(self, optimizer: Any) -> None:
        self._passed("step")

    def _passed(self, name: str) -> None:
        self.peaks[name] = max(self.peaks[name], alive.phase())

    def _parameters(self) -> list[Any]:
        return [p for m in self.models.values() for p in m.parameters()]

    def ended(self) -> None:
        parameters = [*self._parameters(), *(p for o in everywhere() for p in held(o))]
        weights = size(parameters)
        trained = size([p for o in everywhere() for p in held(o) if p.requires_grad])
        if not weights:
            return
        kept = sum(
            KEPT.get(type(o).__name__, _momentum(o)) * size([p for p in held(o) if p.requires_grad])
            for o in everywhere()
        )
        text = (
            f"memory on the device: {_shown(weights)} of parameters, {_shown(trained)} of gradients, "
            f"{_shown(kept)} of optimizer state"
        )
        if self.peaks["backward"]:
            # A parameter that was moved there changes its device in place, and is no operator's output.
            moved = size([p for p in parameters if not alive.has(p)])
            phases = ", ".join(f"{_shown(peak + moved)} in {name}" for name, peak in self.peaks.items())
            text += f", {_shown(max(0, self.activations))} kept for backward; at most {phases}"
        self.session.note(text)


def _momentum(optimizer: Any) -> int:
    return 1 if optimizer.defaults.get("momentum") else 0


def _state() -> int:
    values = [v for o in everywhere() for state in o.state.values() for v in state.values()]
    return size([v for v in values if hasattr(v, "element_size")])


def _shown(number: int) -> str:
    return f"{number / (1 << 30):.2f} GiB" if number >= 1 << 28 else f"{number / (1 << 20):.1f} MiB"
