"""How far the token that a row of logits is compared with lies from the last one that the row has seen."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.derived import SAME_VALUES, Derived

LOSSES = ("cross_entropy", "nll_loss")
ATTENTIONS = ("scaled_dot_product_attention", "multi_head_attention_forward", "softmax")
DISTANCES = range(-2, 5)
# Steps that are looked at, and rows of a sequence whose way back to the tokens is followed.
STEPS = 12
LEAST_ROWS = 4


class Watch(Watcher):
    """In the facts: for each loss the share of targets that equal the token at each distance, and its slices."""

    CALLS = frozenset({"embedding", *ATTENTIONS, *LOSSES, *SAME_VALUES})

    def start(self) -> None:
        self.tokens: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.slices: Derived[list[dict[str, Any]]] = Derived()
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.cut: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.attention: dict[tuple[str, int], dict[str, Any]] = {}
        self.steps = 0

    def called(self, call: Call) -> None:
        if self.steps >= STEPS:
            return
        if call.name == "embedding":
            self._looked_up(call)
        elif call.name in LOSSES:
            self._compared(call)
        elif call.name in ATTENTIONS:
            self._attended(call)
        elif call.name == "getitem":
            self._sliced(call)
        else:
            self.slices.follow(call.name, call.args, call.result)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        self.tokens.clear()

    def _looked_up(self, call: Call) -> None:
        ids = call.args[0] if call.args else call.kwargs.get("input")
        if (
            isinstance(ids, torch.Tensor)
            and ids.dim() == 2
            and call.result.requires_grad
            and len(self.tokens) < 8
        ):
            self.tokens.append((ids, call.result))

    def _attended(self, call: Call) -> None:
        """Where positions look at each other: the line that has, or lacks, the mask of what comes later."""
        shape: list[int] = list(call.result.shape) if isinstance(call.result, torch.Tensor) else []
        among = call.name != "softmax" or (len(shape) > 2 and shape[-1] == shape[-2])
        site = places.here() if among else None
        if site is not None:
            self.attention.setdefault((site["file"], site["line"]), {"site": site, "function": call.name})

    def _sliced(self, call: Call) -> None:
        subject, index = call.args[:2]
        if not isinstance(subject, torch.Tensor):
            return
        known = list(self.slices.of(subject) or ())
        parts = index if isinstance(index, tuple) else (index,)
        cuts = [(axis, *bounds) for axis, part in enumerate(parts) if (bounds := _bounds(part)) is not None]
        site = places.here() if cuts else None
        if site is not None:
            axis, start, stop = cuts[-1]
            known.append({"site": site, "axis": axis, "dims": subject.dim(), "start": start, "stop": stop})
            if subject.dim() == 1 and not subject.is_floating_point():
                self._cut(site, start or 0)
        if known and isinstance(call.result, torch.Tensor):
            self.slices.note(call.result, known)

    def _cut(self, site: dict[str, Any], start: int) -> None:
        """Where sequences are cut out of longer ones: two such cuts tell by how much targets are shifted there."""
        found = self.cut.setdefault(
            (site["file"], site["line"], site.get("column")), {"site": site, "starts": []}
        )
        if len(found["starts"]) < 64:
            found["starts"].append(start)

    def _compared(self, call: Call) -> None:
        logits = call.args[0] if call.args else call.kwargs.get("input")
        target = call.args[1] if len(call.args) > 1 else call.kwargs.get("target")
        if not (isinstance(logits, torch.Tensor) and isinstance(target, torch.Tensor)):
            return
        if not logits.requires_grad or target.is_floating_point():
            return
        rows = logits.transpose(1, 2) if logits.dim() == 3 else logits
        for ids, looked_up in self.tokens:
            length = target.numel() // len(ids)
            if length * len(ids) == target.numel() and LEAST_ROWS <= length <= ids.shape[1]:
                shaped = rows.reshape(len(ids), length, -1)
                self._match(call, ids, looked_up, shaped, target.reshape(len(ids), length), (logits, target))

    def _match(
        self,
        call: Call,
        ids: torch.Tensor,
        looked_up: torch.Tensor,
        rows: torch.Tensor,
        target: torch.Tensor,
        given: tuple[torch.Tensor, torch.Tensor],
    ) -> None:
        site = places.here()
        if site is None:
            return
        key = (site["file"], site["line"])
        if key not in self.seen:
            last = _last_seen(rows, looked_up)
            if last is None:
                return
            logit_slices, target_slices = (self.slices.of(x) or [] for x in given)
            self.seen[key] = {
                "site": site,
                "last_seen": last,
                "length": ids.shape[1],
                "rows": rows.shape[1],
                "target_dims": given[1].dim(),
                "logit_slices": logit_slices,
                "target_slices": target_slices,
                "compared": 0,
                "matches": {k: [0, 0] for k in DISTANCES},
                "values": set(),
            }
        found = self.seen[key]
        offset = next(iter(found["last_seen"].items()))
        start = offset[1] - offset[0] if found["rows"] == rows.shape[1] else 0
        if not _is_causal(found):
            # What a row sees does not end with its own place, so places are counted from where the row stands.
            start = 0
        ignored = target == call.kwargs.get("ignore_index", -100)
        found["compared"] += int((~ignored).sum())
        found["values"] |= set(target[~ignored][:200].tolist())
        for k in DISTANCES:
            places_of = torch.arange(rows.shape[1], device=ids.device) + start + k
            valid = (places_of >= 0) & (places_of < ids.shape[1])
            there = ids[:, places_of[valid]]
            counted = ~ignored[:, valid]
            found["matches"][k][0] += int(((there == target[:, valid]) & counted).sum())
            found["matches"][k][1] += int(counted.sum())

    def facts(self) -> dict[str, Any]:
        shifted = []
        for found in self.seen.values():
            shares = {k: hits / of if of else 0.0 for k, (hits, of) in found.pop("matches").items()}
            found |= {"causal": _is_causal(found), "shares": shares, "values": len(found["values"])}
            shifted.append(found | {"last_seen": {str(k): v for k, v in found["last_seen"].items()}})
        return {
            "shifted": shifted,
            "token_cuts": list(self.cut.values()),
            "attention": list(self.attention.values()),
        }


def _bounds(part: Any) -> tuple[int | None, int | None] | None:
    """Start and stop of a slice that leaves something out; None for anything else."""
    if not isinstance(part, slice) or (part.start is None and part.stop is None):
        return None
    start, stop = (None if x is None else int(x) for x in (part.start, part.stop))
    return (start, stop) if start or stop else None


def _is_causal(found: dict[str, Any]) -> bool:
    """Whether each row sees the tokens up to one place that moves on with the row."""
    return len({last - row for row, last in found["last_seen"].items()}) == 1


def _last_seen(rows: torch.Tensor, looked_up: torch.Tensor) -> dict[int, int] | None:
    """For some rows of the first sequence the last token with a way to them; None where none has."""
    generator = torch.Generator().manual_seed(0)
    mix = torch.randn(rows.shape[2], generator=generator).to(rows.device, rows.dtype)
    found = {}
    for row in sorted({0, rows.shape[1] // 2, rows.shape[1] - 1}):
        try:
            (way,) = torch.autograd.grad(rows[0, row] @ mix, looked_up, retain_graph=True, allow_unused=True)
        except RuntimeError:
            # A graph that cannot be walked twice, as under reentrant checkpointing.
            return None
        if way is None:
            return None
        reached = way[0].abs().sum(-1).nonzero().flatten()
        if not len(reached):
            return None
        found[row] = int(reached[-1])
    return found
