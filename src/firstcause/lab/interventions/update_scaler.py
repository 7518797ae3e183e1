"""``scaler.update()`` after each ``scaler.step()``, for every GradScaler."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """Wraps ``GradScaler.step``; an update that the program makes itself right after does no harm."""

    def start(self) -> None:
        self.updates = 0
        kind = torch.amp.GradScaler
        original, update = kind.step, kind.update

        def step(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(scaler, *args, **kwargs)
            update(scaler)
            self.updates += 1
            return result

        def quiet(scaler: Any, new_scale: Any = None) -> None:
            if new_scale is not None or any(
                s["found_inf_per_device"] for s in scaler._per_optimizer_states.values()
            ):
                update(scaler, new_scale)

        kind.step, kind.update = step, quiet

    def facts(self) -> dict[str, Any]:
        return {"updates": self.updates}
