"""Gradients that are read together: small ones of one shape in one call, the others in one call of the whole list.

A call for each of thousands of small tensors costs more than to copy them side by side and to read them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import torch

# Larger tensors are read where they lie: to copy them would cost more than the call that it saves.
SMALL = 4096
# Elements that are copied side by side at a time, so that they stay in the processor's cache and add no memory.
SIDE_BY_SIDE = 1 << 15
FEWEST = 16
PLAIN = {torch.Tensor}


class Groups:
    """Which of an optimizer's gradients, by their place, are read together; found from their shapes once."""

    def __init__(self, gradients: Sequence[torch.Tensor]) -> None:
        by_shape: dict[torch.Size, list[int]] = {}
        self.alone: list[int] = []
        self.together: list[tuple[int, ...]] = []
        for place, gradient in enumerate(gradients):
            by_shape.setdefault(gradient.shape, []).append(place)
        for shape, places in by_shape.items():
            if len(places) < FEWEST or not 0 < shape.numel() <= SMALL:
                self.alone += places
                continue
            at_once = SIDE_BY_SIDE // shape.numel()
            self.together += [tuple(places[i : i + at_once]) for i in range(0, len(places), at_once)]
        self.alone.sort()
        read = [*self.alone, *(place for places in self.together for place in places)]
        order = sorted(range(len(read)), key=read.__getitem__)
        self._order = itemgetter(*order) if self.together else None
        self._wide = {g.dtype for g in gradients} == {torch.float64}

    @staticmethod
    def possible(gradients: Sequence[torch.Tensor]) -> bool:
        """Whether these are dense tensors of real numbers, all of one kind, in the host's memory."""
        return (
            set(map(type, gradients)) == PLAIN
            and {(g.layout, g.device.type) for g in gradients} == {(torch.strided, "cpu")}
            and len(kinds := {g.dtype for g in gradients}) == 1
            and kinds.pop().is_floating_point
        )

    def norms(self, gradients: Sequence[torch.Tensor]) -> tuple[float, ...] | None:
        """The norm of each gradient; None where the gradients are no longer what they were."""
        if set(map(type, gradients)) != PLAIN:
            return None
        dtype = torch.float64 if self._wide else torch.float32
        try:
            alone = [gradients[i] for i in self.alone]
            read = [torch.stack(torch._foreach_norm(alone, 2, dtype=dtype))] if alone else []
            for places in self.together:
                rows = torch.stack([gradients[i] for i in places])
                read.append(torch.linalg.vector_norm(rows.view(len(places), -1), dim=1, dtype=dtype))
        except RuntimeError:
            # Moved to another device, sparse in this step, of another type: read one by one.
            return None
        values = (torch.cat(read) if len(read) > 1 else read[0]).tolist()
        norms: tuple[float, ...] = self._order(values) if self._order is not None else tuple(values)
        return norms
