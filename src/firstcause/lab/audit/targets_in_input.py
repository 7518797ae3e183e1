"""Columns of a model's input that say the target exactly, alone or added up with others.

With ``settings["samples"]`` the facts hold the ``samples`` themselves, in the order in which they came.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.loss_functions import LOSSES

# Fewer samples, or columns, than this say nothing; more samples are not needed.
LEAST_SAMPLES, LEAST_COLUMNS, MOST_SAMPLES, MOST_COLUMNS = 64, 3, 2048, 2048
# Differences stand at many lines of some programs.
MOST_PLACES = 8
# A fit of the targets by all columns needs several samples a column, and is exact where this share of their spread is left.
A_COLUMN, LEFT, MOST_FITTED = 4, 1e-4, 64
# The correlation from which a column is the target in another unit.
SAME = 0.9999


class Watch(Watcher):
    """In the facts ``told``: each such column, with the samples that were compared; ``fitted``: sums of columns that do."""

    CALLS = LOSSES | {"sub"}

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
        target = _target(call)
        if not isinstance(target, torch.Tensor) or target.requires_grad or not torch.is_grad_enabled():
            return
        given = next((i for i in self.inputs if len(i) == target.numel() == target.shape[:1].numel()), None)
        site = places.here() if given is not None else None
        if given is None or site is None:
            return
        if len(self.kept) >= MOST_PLACES and call.name == "sub":
            return
        found = self.kept.setdefault(
            (site["file"], site["line"]), {"site": site, "function": call.name, "x": [], "y": [], "count": 0}
        )
        same = not found["x"] or found["x"][0].shape[1] == given.shape[1]
        if found["count"] < MOST_SAMPLES and same:
            found["x"].append(given.detach().double().clone())
            found["y"].append(target.detach().reshape(-1).double().clone())
            found["count"] += len(given)

    def facts(self) -> dict[str, Any]:
        enough = [f for f in self.kept.values() if f["count"] >= LEAST_SAMPLES]
        by = [(f, _told(f)) for f in enough]
        # A difference is not always one from a target: the columns that say it are told where a loss function says what it is.
        told = [one for f, of in by if f["function"] != "sub" for one in of]
        facts: dict[str, Any] = {
            "told": told,
            "fitted": [one for f, of in by if not of for one in _fitted(f)],
        }
        if self.settings.get("samples"):
            facts["samples"] = [
                {"site": f["site"], "x": torch.cat(f["x"]).tolist(), "y": torch.cat(f["y"]).tolist()}
                for f in enough
                if f["x"][0].shape[1] <= MOST_FITTED
            ]
        return facts


def _target(call: Call) -> Any:
    """What an output is compared with: the second argument of a loss, or what a trained value differs from."""
    if len(call.args) < 2:
        return None
    if call.name != "sub":
        return call.args[1]
    pair = [a for a in call.args[:2] if isinstance(a, torch.Tensor)]
    fixed = [a for a in pair if not a.requires_grad]
    return fixed[0] if len(pair) == 2 and len(fixed) == 1 and pair[0].shape == pair[1].shape else None


def _fitted(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The targets as a sum of columns with fixed factors, where nothing but rounding is left of them."""
    x, y = torch.cat(found["x"]), torch.cat(found["y"])
    spread = float(y.std())
    if x.shape[1] > MOST_FITTED or len(y) < A_COLUMN * (x.shape[1] + 1) or not spread > 0:
        return []
    with torch.no_grad():
        terms = torch.cat([x, torch.ones_like(x[:, :1])], 1)
        left = y - terms @ (torch.linalg.pinv(terms) @ y)
    share = float(left.std()) / spread
    if not share < LEFT:
        return []
    return [{"site": found["site"], "columns": x.shape[1], "samples": len(y), "left": share}]


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
