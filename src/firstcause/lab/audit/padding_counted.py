"""Padded places of sequences to which a loss gives a gradient, and what the loss is without them."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.nn import functional

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.tails import tails

CLASSES = ("cross_entropy", "nll_loss")
VALUES = (
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy_with_logits",
    "sub",
    "rsub",
)
# Losses of measured values, whose targets may tell by themselves where they were filled up; steps in a target take few values.
MEASURED = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
LEAST_VALUES = 5
STEPS = 60


class Watch(Watcher):
    """For each loss the places that are padding in the input, those of them with a gradient, and both means.

    ``left_out`` takes their gradient away, and gives the others that of a mean over them alone.
    """

    CALLS = frozenset({"embedding", "pad_sequence", *CLASSES, *VALUES})

    def start(self) -> None:
        self.inputs: list[tuple[torch.Tensor, Any]] = []
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.steps = 0
        self.pads = False
        self.hooked: set[int] = set()

    def called(self, call: Call) -> None:
        if self.steps >= STEPS:
            return
        if call.name == "pad_sequence":
            self.pads = True
        elif call.name == "embedding":
            ids = call.args[0] if call.args else call.kwargs.get("input")
            marker = call.args[2] if len(call.args) > 2 else call.kwargs.get("padding_idx")
            if isinstance(ids, torch.Tensor) and ids.dim() == 2:
                self._given(ids, marker)
        elif torch.is_grad_enabled() and len(call.args) >= 2:
            self._compared(call)

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        for value in args:
            if (
                isinstance(value, torch.Tensor)
                and value.dim() in (2, 3)
                and not value.requires_grad
                and value.is_floating_point()
            ):
                self._given(value, None)

    def _given(self, value: torch.Tensor, marker: Any) -> None:
        if all(value is not other for other, _ in self.inputs) and len(self.inputs) < 12:
            self.inputs.append((value, marker))

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        self.inputs.clear()
        self.hooked.clear()

    def _compared(self, call: Call) -> None:
        one, other = call.args[:2]
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
            return
        if one.requires_grad == other.requires_grad:
            return
        predicted, target = (one, other) if one.requires_grad else (other, one)
        if call.name in CLASSES:
            if target.is_floating_point():
                return
        elif predicted.shape != target.shape or target.dim() < 2:
            return
        for value, marker in self.inputs:
            batch, length = value.shape[:2]
            steps = target.shape[1] if target.dim() > 1 else target.numel() // batch
            # One place less where targets are the next tokens, cut off in front of the loss.
            if steps not in (length, length - 1) or (
                batch * steps != target.numel() and target.shape[:2] != (batch, steps)
            ):
                continue
            padded = tails(value, marker)
            if padded is None:
                continue
            self._watch(call, predicted, target, padded[:, length - steps :], marker)
            return
        # What is told apart by the targets alone: series that were made as long as each other, of values that are never zero.
        alone = self.pads and call.name in MEASURED and target.dim() == 2 and target.is_floating_point()
        padded = tails(target) if alone else None
        if padded is not None:
            own = target[~padded]
            if not bool((own == 0).any()) and own.unique().numel() >= LEAST_VALUES:
                self._watch(call, predicted, target, padded, None, alone=True)

    def _watch(
        self,
        call: Call,
        predicted: torch.Tensor,
        target: torch.Tensor,
        padded: torch.Tensor,
        marker: Any,
        alone: bool = False,
    ) -> None:
        site = places.of_frame(sys._getframe(3), columns=True)
        if site is None:
            return
        if call.name in CLASSES:
            flat = padded.reshape(-1)
            classes = predicted.transpose(1, 2).reshape(len(flat), -1) if predicted.dim() == 3 else predicted
            labels = target.reshape(-1)
            kept = ~flat
            with torch.no_grad():
                one = functional.cross_entropy if call.name == "cross_entropy" else functional.nll_loss
                safe = labels.clamp(0, classes.shape[1] - 1)
                each = one(classes.detach().float(), safe, reduction="none")
            filled = labels[flat]
            own = labels[kept]
        else:
            each = (
                (predicted.detach() - target).float().pow(2).flatten(2).mean(-1).reshape(-1)
                if target.dim() > 2
                else (predicted.detach() - target).float().pow(2).reshape(-1)
            )
            flat, kept = padded.reshape(-1), ~padded.reshape(-1)
            filled, own = target.reshape(len(flat), -1)[flat], target.reshape(len(flat), -1)[kept]
        same = bool((filled == filled.reshape(-1)[0]).all()) if filled.numel() else False
        # Places of the input that are filled up, while their targets are not, are no padding of the loss.
        if not same:
            return
        marked = filled.reshape(-1)[0]
        found = self.seen.setdefault(
            (site["file"], site["line"]),
            {
                "site": site,
                "loss": call.name,
                "places": 0,
                "padded": 0,
                "counted": 0,
                "all": [],
                "real": [],
                "known_as": _known_as(padded),
                "marker": float(marked),
                "only": True,
                "padding_idx": marker,
                "classes": call.name in CLASSES,
                "alone": alone,
            },
        )
        found["only"] = found["only"] and not bool((own == marked).any())
        values = each.mean(), each[kept].mean() if kept.any() else each.mean()
        # Two losses of one prediction share its gradient, which is to be taken away once.
        again = id(predicted) in self.hooked
        self.hooked.add(id(predicted))
        summed = call.kwargs.get("reduction") == "sum"
        predicted.register_hook(
            lambda g: self._arrived(found, g, flat, call.name, values, None if again else summed)
        )

    def _arrived(
        self,
        found: dict[str, Any],
        gradient: torch.Tensor,
        flat: torch.Tensor,
        name: str,
        values: Any,
        summed: bool | None,
    ) -> torch.Tensor | None:
        whole = gradient
        if name in CLASSES and gradient.dim() == 3:
            gradient = gradient.transpose(1, 2)
        reached = gradient.reshape(len(flat), -1).abs().sum(1) > 0
        found["places"] += len(flat)
        found["padded"] += int(flat.sum())
        found["counted"] += int((reached & flat).sum())
        found["all"].append(float(values[0]))
        found["real"].append(float(values[1]))
        if not self.settings.get("left_out") or summed is None or name in CLASSES or not bool((~flat).any()):
            return None
        # As if the mean had been over the real places.
        kept = (~flat).to(whole.dtype) * (1.0 if summed else len(flat) / float((~flat).sum()))
        return (whole.reshape(len(flat), -1) * kept[:, None]).reshape(whole.shape)

    def facts(self) -> dict[str, Any]:
        return {"padding": list(self.seen.values()), "pads": self.pads}


def _known_as(padded: torch.Tensor) -> dict[str, str]:
    """The names that the program has for the places that are no padding: a mask, or lengths."""
    frame = next(places.user_frames(sys._getframe(1)), None)
    kept = ~padded
    for name, value in frame.f_locals.items() if frame is not None else ():
        if not isinstance(value, torch.Tensor) or not name.isidentifier():
            continue
        if value.shape == kept.shape and value.unique().numel() <= 2 and torch.equal(value.bool(), kept):
            return {"mask": name if value.dtype == torch.bool else f"{name}.bool()"}
        whole = value.dim() == 1 and len(value) == len(kept) and not value.is_floating_point()
        if whole and torch.equal(value.to(kept.device), kept.sum(1).to(value.dtype)):
            return {"lengths": name}
    return {}
