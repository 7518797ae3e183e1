"""The calls of torch that a step makes, each with what it made and from what; in a sealed child only."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves

from firstcause.lab import places, tensors
from firstcause.lab.ancestry import nearest_first

# Beyond so many calls only the lines are followed: each costs a pass over its result.
MOST_CALLS, MOST_TAKERS = 20_000, 60
# These read a tensor and make none that a step goes on with.
ASIDE = frozenset(
    {"__get__", "__len__", "__hash__", "__repr__", "__format__", "size", "dim", "is_floating_point"}
)


class Calls(TorchFunctionMode):
    """Observe between ``__enter__`` and ``__exit__``; calls are numbered, and share a clock with whoever else notes things."""

    def __init__(self, modules: Mapping[str, torch.nn.Module]) -> None:
        super().__init__()
        self.made: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self.found: list[dict[str, Any]] = []
        self.followed: dict[int, weakref.ref[torch.Tensor]] = {}
        self.clock = 0
        self.names = {id(p): f"{path}.{n}" for path, m in modules.items() for n, p in m.named_parameters()}

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = str(resolve_name(func) or getattr(func, "__qualname__", func)).rpartition(".")[2]
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        followed = any(self._is_followed(x) for x in given)
        result = func(*args, **kwargs)
        made = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        if made and name not in ASIDE and len(self.found) < MOST_CALLS:
            with torch._C.DisableTorchFunction():
                self._note(name, given, made, followed)
        return result

    def _note(self, name: str, given: list[torch.Tensor], made: list[torch.Tensor], followed: bool) -> None:
        number = len(self.found)
        inputs = [self._origin(x) for x in given]
        shown: dict[str, Any] = tensors.figures(made[0])
        site = places.of_frame(sys._getframe(2))
        self.found.append(
            {
                "at": self.tick(),
                "number": number,
                "kind": "call",
                "how": name.strip("_"),
                "site": site,
                "inputs": inputs,
                "value": shown | ({"grad": True} if made[0].requires_grad else {}),
                "takes": followed,
            }
        )
        for tensor in made:
            self.made[id(tensor)] = (weakref.ref(tensor), number)

    def producer(self, tensor: torch.Tensor) -> int | None:
        """The call that made a tensor, or wrote it last."""
        known = self.made.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def follow(self, tensor: torch.Tensor, arrived: Callable[[torch.Tensor], None]) -> None:
        """Note who takes this tensor from here on, and the gradient that arrives at it."""
        if self._is_followed(tensor):
            return
        self.followed[id(tensor)] = weakref.ref(tensor)
        if tensor.requires_grad:
            with torch._C.DisableTorchFunction():
                tensor.register_hook(arrived)

    def behind(
        self, number: int | None, most: int, is_bad: Callable[[dict[str, Any]], bool]
    ) -> list[dict[str, Any]]:
        """The call with that number and those from which it got its inputs, in order of time.

        The nearest ``most`` of them, and the first one whose result is bad, however far away it is.
        """
        if number is None:
            return []
        every = list(nearest_first([number], self._makers))
        bad = [n for n in sorted(every) if is_bad(self.found[n]["value"])][:1]
        return [self.found[n] for n in sorted({*every[:most], *bad})]

    def takers(self) -> list[dict[str, Any]]:
        """The calls that were given a followed tensor."""
        return [c for c in self.found if c["takes"]][:MOST_TAKERS]

    def name_of(self, number: int | None) -> str | None:
        return None if number is None else str(self.found[number]["how"])

    def _makers(self, number: int) -> list[int]:
        return [i["made_by"] for i in self.found[number]["inputs"] if "made_by" in i]

    def _is_followed(self, tensor: torch.Tensor) -> bool:
        known = self.followed.get(id(tensor))
        return known is not None and known() is tensor

    def _origin(self, tensor: torch.Tensor) -> dict[str, Any]:
        made = self.producer(tensor)
        if made is not None:
            return {"made_by": made}
        name = self.names.get(id(tensor))
        return {"parameter": name} if name else {"shape": list(tensor.shape)}
