"""Modules whose class name starts with one of ``classes`` hand their input on unchanged."""

from __future__ import annotations

import gc
from typing import Any

import torch

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """Only classes of torch are silenced, and only where the output has the shape of the input."""

    def start(self) -> None:
        prefixes = tuple(self.settings["classes"])
        self.silenced = 0
        for module in gc.get_objects():
            kind = type(module)
            if (
                issubclass(kind, torch.nn.Module)
                and kind.__module__.startswith("torch.")
                and kind.__name__.startswith(prefixes)
            ):
                self.silenced += 1
                # Set on the instance, where __call__ looks first.
                module.__dict__["forward"] = _first

    def facts(self) -> dict[str, Any]:
        return {"silenced": self.silenced}


def _first(value: Any, *others: Any, **named: Any) -> Any:
    return value
