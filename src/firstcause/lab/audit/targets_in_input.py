"""Columns of a model's input that say the target exactly."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.loss_functions import LOSSES

# Fewer samples, or columns, than this say nothing; more samples are not needed.
LEAST_SAMPLES, LEAST_COLUMNS, MOST_SAMPLES, MOST_COLUMNS = 64, 3, 2048, 2048
# The correlation from which a column is the target in another unit.
SAME = 0.9999


class Watch(Watcher):
    """In the facts ``told``: each such column, with the samples that were compared."""

    CALLS = LOSSES

    def start(self) -> None:
        self.inputs: list[torch.Tensor] = []
        self.kept: dict[tuple[str, int], dict[str, Any]] = {}

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        if not torch.is_grad_enabled():
            return
        for one in args[:2]:
            plain = (
                isinstance(one, torch.Tensor)
                and one.dim() == 2
                and one.is_floating_point()
                and not one.requires_grad
            )
            if (
                plain
                and LEAST_COLUMNS <= one.shape[1] <= MOST_COLUMNS
                and all(one is not i for i in self.inputs[:4])
            ):
                self.inputs.append(one)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.inputs = []

    def called(self, call: Call) -> None:
        target = call.args[1] if len(call.args) > 1 else None
        if not isinstance(target, torch.Tensor) or target.requires_grad or not torch.is_grad_enabled():
            return
        given = next((i for i in self.inputs if len(i) == target.numel() == target.shape[:1].numel()), None)
        site = places.here() if given is not None else None
        if given is None or site is None:
            return
        found = self.kept.setdefault(
            (site["file"], site["line"]), {"site": site, "x": [], "y": [], "count": 0}
        )
        same = not found["x"] or found["x"][0].shape[1] == given.shape[1]
        if found["count"] < MOST_SAMPLES and same:
            found["x"].append(given.detach().double().clone())
            found["y"].append(target.detach().reshape(-1).double().clone())
            found["count"] += len(given)

    def facts(self) -> dict[str, Any]:
        return {"told": [one for f in self.kept.values() if f["count"] >= LEAST_SAMPLES for one in _told(f)]}


def _told(found: dict[str, Any]) -> list[dict[str, Any]]:
    """At most one column: two that both say the target are copies of each other."""
    x, y = torch.cat(found["x"]), torch.cat(found["y"])
    if len(y.unique()) < 2:
        return []
    centred, aim = x - x.mean(0), y - y.mean()
    alike = (centred * aim[:, None]).sum(0) / (centred.norm(dim=0) * aim.norm()).clamp_min(1e-300)
    column = int(alike.abs().argmax())
    if float(alike[column].abs()) < SAME:
        return []
    equal = bool((x[:, column] == y).all())
    one = {"site": found["site"], "column": column, "columns": x.shape[1], "samples": len(y), "equal": equal}
    return [one | {"correlation": float(alike[column])}]
