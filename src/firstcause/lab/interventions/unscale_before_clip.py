"""Gradients are divided by the scaler's scale before they are clipped, by ``scaler.unscale_``."""

from __future__ import annotations

import gc
import sys
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.interventions import Intervention

CLIPS = ("clip_grad_norm_", "clip_grad_value_")


class Change(Intervention):
    """Wraps torch's clip functions wherever a module of the program holds them.

    With ``settings["only_watch"]`` nothing is changed, and the arm tells what was clipped at which scale.
    """

    def start(self) -> None:
        self.seen: list[dict[str, Any]] = []
        for name in CLIPS:
            plain = getattr(torch.nn.utils, name)
            wrapped = self._wrapped(plain, name)
            for module in list(sys.modules.values()):
                space = getattr(module, "__dict__", None)
                for key in [k for k, v in (space or {}).items() if v is plain]:
                    space[key] = wrapped  # type: ignore[index]

    def _wrapped(self, plain: Any, name: str) -> Any:
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            held = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            scaled = self._scaled(held)
            for scaler, optimizer in scaled:
                if len(self.seen) < 8:
                    self.seen.append(_clipped(name, args, kwargs, scaler, held))
                if not self.settings.get("only_watch"):
                    scaler.unscale_(optimizer)
            return plain(held, *args, **kwargs)

        return clip

    def _scaled(self, held: list[torch.Tensor]) -> list[tuple[Any, torch.optim.Optimizer]]:
        """Scalers and optimizers of these parameters whose gradients are still multiplied by the scale."""
        everything = gc.get_objects()
        scalers = [o for o in everything if type(o).__name__ == "GradScaler" and o.is_enabled()]
        mine = {id(p) for p in held}
        return [
            (s, o)
            for s in scalers
            for o in everything
            if issubclass(type(o), torch.optim.Optimizer)
            and any(id(p) in mine for g in o.param_groups for p in g["params"])
            and s._scale is not None
            and s._per_optimizer_states[id(o)]["stage"].value == 0
        ]

    def facts(self) -> dict[str, Any]:
        return {"clipped": self.seen}


def _clipped(name: str, args: Any, kwargs: Any, scaler: Any, held: list[torch.Tensor]) -> dict[str, Any]:
    gradients = [p.grad for p in held if p.grad is not None]
    # torch.nn.utils.get_total_norm is there since torch 2.6.
    norms = [torch.linalg.vector_norm(gradient) for gradient in gradients]
    norm = float(torch.linalg.vector_norm(torch.stack(norms))) if norms else 0.0
    limit = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
    return {
        "call": name,
        "limit": float(limit),
        "norm": norm,
        "scale": float(scaler.get_scale()),
        "site": places.here(),
    }
