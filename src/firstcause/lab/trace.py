"""The deep replay's observer: every op of the step, where a bad value was born, and which op refused its input.

Runs only in a sealed child. A *birth* is an op whose output is worse (NaN over infinity over finite) than all
of its inputs; bad values that no op of the step made are *sources*. Births are followed by tensor, so that a
report starts at the first ancestor and tells the first cause from the first NaN that shows.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from firstcause.lab import places, tensors
from firstcause.lab.modules import ModuleStack
from firstcause.lab.refusal import describe_refusal

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.snapshot import Snapshot

UNFILLED = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_"})
# Ops that write a constant: an infinity of theirs is a mask, and no cause unless it is an ancestor.
CONSTANT = frozenset(
    {
        "full",
        "full_like",
        "fill",
        "fill_",
        "masked_fill",
        "masked_fill_",
        "scalar_tensor",
        "new_full",
        "where",
        "index_fill_",
        "index_put_",
        "lift_fresh",
        "_to_copy",
    }
)
MOST_BIRTHS = 200


class Trace(TorchDispatchMode):
    """Observe everything between ``__enter__`` and ``__exit__``; ``facts`` gives it as plain data."""

    def __init__(self, recorder: Recorder, window: list[Snapshot]) -> None:
        super().__init__()
        self.modules = ModuleStack(recorder.reachable.modules, self.origin)
        self.inputs = {id(t): name for s in window for name, t, _ in s.versions}
        self.ops: list[dict[str, Any]] = []
        self.births: list[dict[str, Any]] = []
        self.losses: list[dict[str, Any]] = []
        self.refused: dict[str, Any] | None = None
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._ancestors: dict[int, tuple[weakref.ref[torch.Tensor], frozenset[int]]] = {}
        self._anomaly = torch.autograd.detect_anomaly(check_nan=False)

    def __enter__(self) -> Trace:
        warnings.simplefilter("ignore")
        self.modules.attach()
        self._anomaly.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._anomaly.__exit__()
        self.modules.detach()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        leaves = tree_leaves((args, kwargs))
        given = [x for x in leaves if isinstance(x, torch.Tensor)]
        worst = max([self._state(x) for x in given], default=tensors.FINITE)
        before = [self._seen(x) for x in given]
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if self.refused is None or self.refused["error"] != str(error):
                self.refused = describe_refusal(self, func, args, kwargs, error)
            raise
        number = self._note(func, given)
        made = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        if made:
            self.ops[number]["shape"] = list(made[0].shape)
        name = func._schema.name.removeprefix("aten::")
        for tensor in made:
            state = tensors.FINITE if name in UNFILLED else tensors.badness(tensor)
            ancestors: frozenset[int] = frozenset()
            if state:
                ancestors = frozenset().union(*before)
                if state > worst and len(self.births) < MOST_BIRTHS:
                    ancestors = ancestors | {
                        self._birth(func, name, number, args, kwargs, tensor, state, ancestors)
                    }
            self._remember(tensor, number, ancestors)
        return result

    # ------------------------------------------------------------------ provenance

    def _state(self, tensor: torch.Tensor) -> int:
        state = tensors.badness(tensor)
        if state and not self._seen(tensor) and self._producer(tensor) is None:
            self._source(tensor, state)
        return state

    def _seen(self, tensor: torch.Tensor) -> frozenset[int]:
        entry = self._ancestors.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else frozenset()

    def _producer(self, tensor: torch.Tensor) -> int | None:
        entry = self._made.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def _remember(self, tensor: torch.Tensor, number: int, ancestors: frozenset[int]) -> None:
        reference = weakref.ref(tensor)
        self._made[id(tensor)] = (reference, number)
        self._ancestors[id(tensor)] = (reference, ancestors)

    def _note(self, func: Any, given: list[torch.Tensor]) -> int:
        node = torch._C._current_autograd_node()
        self.ops.append(
            {
                "op": func._schema.name.removeprefix("aten::"),
                "site": places.of_node(node) if node is not None else places.of_frame(sys._getframe(2)),
                "phase": "backward" if node is not None else "forward",
                "module": self.modules.path(),
                "inputs": [self.origin(x) for x in given],
            }
        )
        return len(self.ops) - 1

    def origin(self, tensor: torch.Tensor) -> dict[str, Any]:
        """What a tensor is: made by which op, a parameter, an input of the step, or none of these."""
        made = self._producer(tensor)
        facts: dict[str, Any] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:]}
        if made is not None:
            return facts | {"made_by": made}
        name = self.modules.tensor_name(tensor)
        if name is not None:
            return facts | {"parameter": name}
        return facts | ({"input": self.inputs[id(tensor)]} if id(tensor) in self.inputs else {"other": True})

    # ------------------------------------------------------------------ births

    def _source(self, tensor: torch.Tensor, state: int) -> None:
        number = len(self.births)
        rows, first = tensors.bad_rows(tensor)
        self.births.append(
            {
                "op": "source",
                "number": -1,
                "kind": "nan" if state == tensors.NAN else "inf",
                "phase": "forward",
                "site": places.of_frame(sys._getframe(2)),
                "module": self.modules.path(),
                "output": tensors.figures(tensor),
                "origin": self.origin(tensor),
                "rows": rows,
                "first_rows": first,
                "whole_columns": tensors.whole_columns(tensor),
                "element": tensors.first_bad(tensor),
                "ancestors": [],
            }
        )
        self._ancestors[id(tensor)] = (weakref.ref(tensor), frozenset({number}))

    def _birth(
        self,
        func: Any,
        name: str,
        number: int,
        args: Any,
        kwargs: Any,
        made: torch.Tensor,
        state: int,
        ancestors: frozenset[int],
    ) -> int:
        node = torch._C._current_autograd_node()
        element = tensors.first_bad(made)
        operands = [x for x in tree_leaves((args, kwargs)) if isinstance(x, (torch.Tensor, int, float))]
        rows, first = tensors.bad_rows(made)
        self.births.append(
            {
                "op": name,
                "overload": str(func),
                "number": number,
                "kind": "nan" if state == tensors.NAN else "inf",
                "signs": sorted(
                    {
                        "+" if v > 0 else "-"
                        for v in (float("inf"), float("-inf"))
                        if bool((made.detach() == v).any())
                    }
                ),
                "phase": self.ops[number]["phase"],
                "node": node.name() if node is not None else None,
                "site": self.ops[number]["site"] if node is not None else places.here(),
                "module": self.ops[number]["module"],
                "constant": name in CONSTANT and state == tensors.INF,
                "operands": [tensors.figures(x) for x in operands],
                "operands_at": [tensors.at(x, element, made.shape) for x in operands],
                "inputs": self.ops[number]["inputs"],
                "output": tensors.figures(made),
                "rows": rows,
                "first_rows": first,
                "element": element,
                "ancestors": sorted(ancestors),
            }
        )
        return len(self.births) - 1

    def loss(self, value: torch.Tensor) -> None:
        """The step's loss, as the marked backward call gives it."""
        self.losses.append(
            {
                "value": tensors.figures(value),
                "ancestors": sorted(self._seen(value)),
                "made_by": self._producer(value),
            }
        )

    # ------------------------------------------------------------------ the result

    def facts(self, parameters: list[torch.Tensor], error: BaseException | None) -> dict[str, Any]:
        """Plain data: the ops behind what went wrong, births, losses, the op that refused its input."""
        if error is not None and self.refused is None:
            self.refused = describe_refusal(self, None, (), {}, error)
        bad = [
            self.modules.tensor_name(p) for p in parameters if p.grad is not None and tensors.badness(p.grad)
        ]
        roots = [i["made_by"] for b in self.births for i in b.get("inputs", ()) if "made_by" in i]
        if self.refused is not None:
            roots += [
                a["made_by"] for a in self.refused["operands"] if isinstance(a, dict) and "made_by" in a
            ]
        return {
            "ops": len(self.ops),
            "births": self.births,
            "losses": self.losses,
            "bad_gradients": bad,
            "refused": self.refused,
            "owners": self.modules.owners(),
            "chain": {str(n): self.ops[n] for n in sorted(self._behind(roots))},
        }

    def _behind(self, roots: list[int], most: int = 400) -> set[int]:
        """The ops from which the given ones got their inputs, nearest first, bounded."""
        found: set[int] = set()
        queue = list(dict.fromkeys(roots))
        while queue and len(found) < most:
            number = queue.pop(0)
            if number not in found:
                found.add(number)
                queue.extend(i["made_by"] for i in self.ops[number]["inputs"] if "made_by" in i)
        return found
