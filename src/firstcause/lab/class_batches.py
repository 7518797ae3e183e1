"""The classes of a batch's samples, where the program's own code compares them in place of a loss of torch. Sealed child only."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.lab.audit import Call
from firstcause.lab.derived import SAME_VALUES, Derived

JOINED = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "repeat", "tile", "repeat_interleave"})
COMPARED = frozenset(
    {"eq", "ne", "one_hot", "gather", "take_along_dim", "scatter", "index_select", "getitem"}
)
KINDS = (torch.int64, torch.int32, torch.int16, torch.uint8)


class ClassBatches:
    """Follows the whole numbers that come one a sample with a batch, to the functions that compare or choose by them."""

    CALLS = SAME_VALUES | JOINED | COMPARED

    def __init__(self) -> None:
        self.numbers: Derived[int] = Derived()
        # What was given since the last step: by its place there, and which of it was compared.
        self.given: list[torch.Tensor] = []
        self.used: list[int] = []
        self.steps: list[torch.Tensor] = []

    def given_by_loader(self, batch: Any) -> None:
        """A batch has come: what came before it for the same step is another one's."""
        self.given, self.used = [], []
        for one in tree_leaves(batch):
            self.offer(one)

    def offer(self, value: Any) -> None:
        """Keep whole numbers, one a sample."""
        if isinstance(value, torch.Tensor) and value.dtype in KINDS and value.dim() == 1 and len(value) > 1:
            self.numbers.note(value, len(self.given))
            self.given.append(value)

    def called(self, call: Call) -> None:
        """See whether the numbers are compared; hand them on where the call only moves them about."""
        if not self.given:
            return
        taken = call.args[1:] if call.name == "getitem" else call.args
        known = [self.numbers.of(a) for a in tree_leaves([list(taken), call.kwargs])]
        found = [k for k in known if k is not None]
        if found and call.name in COMPARED:
            self.used += found
        elif found and call.name in JOINED and isinstance(call.result, torch.Tensor):
            self.numbers.note(call.result, found[0])
        self.numbers.follow(call.name, call.args, call.result)

    def stepped(self) -> torch.Tensor | None:
        """The classes of the step that is about to be taken; None where none were compared."""
        used = [i for i in self.used if i < len(self.given)]
        found = self.given[used[0]].detach().clone() if used else None
        self.given, self.used = [], []
        if found is not None:
            self.steps.append(found)
        return found

    def facts(self) -> dict[str, Any]:
        """The share of batches with samples of one class alone, and how many classes there are."""
        if not self.steps:
            return {"alone": None, "classes": 0}
        alone = [bool((c == c[0]).all()) for c in self.steps]
        return {"alone": sum(alone) / len(alone), "classes": len(torch.cat(self.steps).unique())}
