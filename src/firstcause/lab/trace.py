"""The deep replay's observer: every op of the step, where a bad value was born, and which op refused its input.

Runs only in a sealed child. A *birth* is an op whose output is worse (NaN over infinity over finite) than all
of its inputs; bad values that no op of the step made are *sources*. Births are followed by tensor, so that a
report starts at the first ancestor and tells the first cause from the first NaN that shows.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from firstcause.lab import mechanisms, outliers, places, tensors
from firstcause.lab.ancestry import nearest_first
from firstcause.lab.batch_rows import batch_rows
from firstcause.lab.births import Births, call_of
from firstcause.lab.calls import Calls
from firstcause.lab.graph import Graph
from firstcause.lab.module_outputs import ModuleOutputs
from firstcause.lab.modules import ModuleStack
from firstcause.lab.names import row_holder
from firstcause.lab.op_names import name_of_op
from firstcause.lab.refusal import describe_refusal
from firstcause.lab.refused_call import describe, led_to

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.snapshot import Snapshot

UNFILLED = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_"})
MOST_OUTLIERS = 8
MOST_BEHIND = 400
# Frames of the program, from the innermost on, whose names are asked for the batch.
MOST_FRAMES = 8


class Trace(TorchDispatchMode):
    """Observe everything between ``__enter__`` and ``__exit__``; ``facts`` gives it as plain data."""

    def __init__(self, recorder: Recorder, window: list[Snapshot]) -> None:
        super().__init__()
        self.modules = ModuleStack(recorder.reachable.modules, self.origin)
        self.inputs = {id(t): name for s in window for name, t, _ in s.versions}
        self.rows: list[dict[str, Any]] | None = None
        self.outputs = ModuleOutputs()
        self.ops: list[dict[str, Any]] = []
        self.births = Births(self.origin, self.modules.path)
        self.screen = outliers.Screen()
        self.outliers: list[dict[str, Any]] = []
        self.losses: list[dict[str, Any]] = []
        self.refused: dict[str, Any] | None = None
        self._refusal: BaseException | None = None
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._anomaly = torch.autograd.detect_anomaly(check_nan=False)
        self.graph = Graph(self, recorder)
        self.calls = Calls(self.origin, self.modules.path, self.modules.stack) if _raised(recorder) else None

    def __enter__(self) -> Trace:
        warnings.simplefilter("ignore")
        self.modules.attach()
        self.graph.attach()
        self._anomaly.__enter__()
        super().__enter__()
        if self.calls is not None:
            self.calls.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.calls is not None:
            self.calls.__exit__(*exception)
        super().__exit__(*exception)
        self._anomaly.__exit__()
        self.graph.detach()
        self.modules.detach()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        leaves = tree_leaves((args, kwargs))
        given = [x for x in leaves if isinstance(x, torch.Tensor)]
        worst = max([self._state(x) for x in given], default=tensors.FINITE)
        before = frozenset[int]().union(*(self.births.ancestors(x) for x in given))
        call = call_of(func, args, kwargs)
        far = list(self.screen.look(args, kwargs))
        written = self.graph.before_op(func, args, kwargs, given)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if self.refused is None or self.refused["error"] != str(error):
                self.refused, self._refusal = describe_refusal(self, func, args, kwargs, error), error
            raise
        call.number = number = self._note(func, given)
        self.outliers += [self._outlier(number, batch, found) for batch, found in far[:MOST_OUTLIERS]]
        self.ops[number] |= mechanisms.noted(call.name, func, args, kwargs)
        made = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        self.graph.after_op(number, given, made, written, result)
        if self.ops[number]["phase"] == "forward":
            self.outputs.made(self.ops[number]["module"], made)
        if made:
            self.ops[number] |= {"shape": list(made[0].shape), "dtype": str(made[0].dtype)[6:]}
        for tensor in made:
            self._made[id(tensor)] = (weakref.ref(tensor), number)
            state = tensors.FINITE if call.name in UNFILLED else tensors.badness(tensor)
            self.births.made(call, self.ops[number], tensor, state, worst, before if state else frozenset())
        if self.rows is None and self.births.found and not self.births.found[-1].get("constant"):
            self.rows = batch_rows(
                self.births.found[-1], islice(places.user_frames(sys._getframe(1)), MOST_FRAMES)
            )
        return result

    # ------------------------------------------------------------------ provenance

    def _state(self, tensor: torch.Tensor) -> int:
        state = tensors.badness(tensor)
        if state and not self.births.ancestors(tensor) and self._producer(tensor) is None:
            self.births.source(tensor, state, len(self.ops))
        return state

    def _producer(self, tensor: torch.Tensor) -> int | None:
        entry = self._made.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def _note(self, func: Any, given: list[torch.Tensor]) -> int:
        node = torch._C._current_autograd_node()
        self.ops.append(
            {
                "number": len(self.ops),
                "op": name_of_op(func),
                "site": places.of_node(node, sys._getframe(2))
                if node is not None
                else places.of_frame(sys._getframe(2)),
                "phase": "backward" if node is not None else "forward",
                "grad": torch.is_grad_enabled(),
                "module": self.modules.path(),
                "inputs": [self.origin(x) for x in given],
            }
        )
        return len(self.ops) - 1

    def origin(self, tensor: torch.Tensor) -> dict[str, Any]:
        """What a tensor is: made by which op, a parameter, an input of the step, or none of these."""
        made = self._producer(tensor)
        facts: dict[str, Any] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:]}
        if tensor.requires_grad and tensor.is_leaf:
            facts["trained"] = True
        if made is not None:
            return facts | {"made_by": made}
        name = self.modules.tensor_name(tensor)
        if name is not None:
            # Its counter of writes tells one that was trained from a new one of the same name.
            return (
                facts | {"parameter": name} | ({} if tensor.is_inference() else {"writes": tensor._version})
            )
        if id(tensor) in self.inputs:
            return facts | {"input": self.inputs[id(tensor)]}
        held = self.modules.plain_attribute(tensor)
        return facts | {"other": True} | ({"attribute": held, "device": str(tensor.device)} if held else {})

    def loss(self, value: torch.Tensor) -> None:
        """The step's loss, as the marked backward call gives it."""
        self.losses.append(
            {
                "value": tensors.figures(value),
                "ancestors": sorted(self.births.ancestors(value)),
                "made_by": self._producer(value),
            }
        )

    def pass_begins(self) -> None:
        """One more pass of the window begins."""
        self.graph.pass_begins()

    def _outlier(self, number: int, batch: torch.Tensor, found: outliers.Outliers) -> dict[str, Any]:
        """Rows of the step's data that lie far outside of the others, and the op that they enter by."""
        op = self.ops[number]
        return found.facts() | {
            "origin": self.origin(batch),
            "name": row_holder(batch, found.rows[0], sys._getframe(1)),
            "site": op["site"],
            "used_by": number,
        }

    # ------------------------------------------------------------------ the result

    def facts(self, parameters: list[torch.Tensor], error: BaseException | None) -> dict[str, Any]:
        """Plain data: the ops behind what went wrong, births, losses, the op that refused its input."""
        self.outputs.close()
        # What the program caught and went on from is no part of what ended it.
        if error is not None and (self._refusal is None or not led_to(self._refusal, error)):
            self.refused = describe_refusal(self, None, (), {}, error)
        bad = [
            self.modules.tensor_name(p) for p in parameters if p.grad is not None and tensors.badness(p.grad)
        ]
        used = [b.get("used_by", -1) for b in (*self.outliers, *self.births.found)]
        roots = [number for number in used if 0 <= number < len(self.ops)]
        roots += [i["made_by"] for b in self.births.found for i in b.get("inputs", ()) if "made_by" in i]
        if self.refused is not None:
            roots += [
                a["made_by"] for a in self.refused["operands"] if isinstance(a, dict) and "made_by" in a
            ]
        roots += self.graph.roots()
        return {
            "ops": len(self.ops),
            "births": self.births.found,
            "losses": self.losses,
            "batch_rows": self.rows or [],
            "activations": self.outputs.found,
            "outliers": self.outliers[:MOST_OUTLIERS],
            "bad_gradients": bad,
            "refused": self.refused,
            "graph": self.graph.facts(error),
            "call": self._call(error),
            "owners": self.modules.owners(),
            "chain": {str(n): self.ops[n] for n in sorted(self._behind(roots))},
        }

    def _call(self, error: BaseException | None) -> dict[str, Any] | None:
        if self.calls is None or error is None:
            return None
        try:
            return describe(self.calls, error)
        except Exception as own:  # noqa: BLE001 - calls of the program's own are made again: the rest is known without
            return {"failed": repr(own)}

    def _behind(self, roots: list[int]) -> set[int]:
        """The given ops and those from which they got their inputs, the nearest ``MOST_BEHIND``."""
        return set(islice(nearest_first(roots, self.makers), MOST_BEHIND))

    def makers(self, number: int) -> list[int]:
        """The ops that made the inputs of one."""
        return [i["made_by"] for i in self.ops[number]["inputs"] if "made_by" in i]


def _raised(recorder: Recorder) -> bool:
    """Whether the replay is that of an exception: bits of the results do not matter then, and every call may be asked about."""
    replay = getattr(recorder, "replay", None)
    facts = getattr(replay, "facts", None) or {}
    return replay is None or replay.error is not None or facts.get("kind") == "exception"
