"""The graph of the replayed pass: who saved a tensor, who wrote it, who stepped, and what was built before the pass.

Runs only in a sealed child. Nothing here reads a saved tensor before the engine has refused it, so that the
in-place check fails in the replay as it failed in the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from firstcause.lab import holders, places
from firstcause.lab.ancestry import nearest_first
from firstcause.lab.departures import Departures
from firstcause.lab.gradient_modes import GradientModes
from firstcause.lab.op_names import name_of_op
from firstcause.lab.recomputation import Recomputations
from firstcause.lab.saved_values import MODIFIED, modified, storage_of
from firstcause.lab.writes import Writes, Written, written_by
from firstcause.record.observe import units
from firstcause.record.observe.guard import unseen

if TYPE_CHECKING:
    from firstcause.lab.trace import Trace
    from firstcause.record.observe.recorder import Recorder

SHOWN = 8


class Graph:
    """Watches one pass from ``attach`` to ``detach``; ``facts`` gives what stood behind an exception of autograd."""

    def __init__(self, trace: Trace, recorder: Recorder) -> None:
        self.trace, self.recorder = trace, recorder
        self.start: int | None = None
        self.modes = GradientModes(trace)
        self.departures = Departures(trace)
        self.recomputations = Recomputations(trace, recorder)
        self.writes = Writes(trace)
        self.calls: list[dict[str, Any]] = []
        self.nodes: list[list[Any]] = []
        self.walked: list[list[int]] = []
        self.borrowed: dict[int, tuple[torch.Tensor, dict[str, Any], list[holders.Held]]] = {}
        self._undo: list[Callable[[], None]] = []

    def attach(self) -> None:
        self.pass_begins()
        watchers = (self.modes, self.recomputations, self.writes)
        for watcher in watchers:
            watcher.attach()
        self._undo = [w.detach for w in watchers]
        engine = getattr(torch.autograd, "_engine_run_backward", None)
        if engine is not None:
            # torch.autograd.backward and grad find it in their own module, since torch 2.2.
            torch.autograd._engine_run_backward = self._walking(engine)
            self._undo.append(lambda: setattr(torch.autograd, "_engine_run_backward", engine))

    def detach(self) -> None:
        for undo in self._undo:
            undo()
        self._undo = []

    # ------------------------------------------------------------------ while it runs

    def pass_begins(self) -> None:
        """A pass of the window begins: nodes with a smaller sequence number are older than it."""
        with unseen():
            self.start = units.sequence()

    def before_op(self, func: Any, args: Any, kwargs: Any, given: list[torch.Tensor]) -> Written:
        """Called before an op: tensors of older graphs among its inputs; gives what it is going to write."""
        if torch._C._current_autograd_node() is None:
            for tensor in given:
                if id(tensor) not in self.borrowed and self._is_older(tensor.grad_fn):
                    self._borrow(func, tensor)
        return written_by(func, args, kwargs)

    def after_op(
        self,
        number: int,
        given: list[torch.Tensor],
        made: list[torch.Tensor],
        written: Written,
        result: Any,
    ) -> None:
        """Called after an op: its writes, and what of it leaves the graph."""
        self.departures.after_op(number, given, result)
        self.writes.after_op(number, given, made, written)

    def _walking(self, engine: Callable[..., Any]) -> Callable[..., Any]:
        def run(roots: Any, *args: Any, **kwargs: Any) -> Any:
            tensors = [t for t in roots if isinstance(t, torch.Tensor)]
            call: dict[str, Any] = {
                "site": places.of_frame(sys._getframe(1), columns=True),
                "grad": torch.is_grad_enabled(),
                "roots": [self._root(t) for t in tensors],
                "before_op": len(self.trace.ops),
                "ended": False,
            }
            self.calls.append(call)
            nodes = list(reachable([t.grad_fn for t in tensors]))
            order: list[int] = []
            self.nodes.append(nodes)
            self.walked.append(order)
            hooks = [
                n.register_prehook(_appender(order, i))
                for i, n in enumerate(nodes)
                if hasattr(n, "register_prehook") and "AccumulateGrad" not in n.name()
            ]
            result = engine(roots, *args, **kwargs)
            for hook in hooks:
                hook.remove()
            call["ended"] = True
            leaves = (n.variable for n in nodes if hasattr(n, "variable"))
            self.writes.gradients |= {s for leaf in leaves if (s := storage_of(leaf.grad)) is not None}
            return result

        return run

    def _root(self, tensor: torch.Tensor) -> dict[str, Any]:
        return self.trace.origin(tensor) | {
            "requires_grad": tensor.requires_grad,
            "node": tensor.grad_fn.name() if tensor.grad_fn is not None else None,
            "inference": tensor.is_inference(),
        }

    def _parameters(self) -> Iterator[torch.Tensor]:
        return (p for m in self.recorder.reachable.modules.values() for p in m.parameters())

    # ------------------------------------------------------------------ older graphs

    def _is_older(self, node: Any) -> bool:
        return node is not None and self.start is not None and _sequence(node) < self.start

    def age(self, node: Any) -> str:
        """When a node was made: in this pass, in an earlier one, or before the loop's first."""
        sequence = _sequence(node)
        if self.start is None or sequence >= self.start:
            return "this pass"
        unit = self.recorder.window[-1].k if self.recorder.window else None
        first = self.recorder.first_sequences.get(unit) if unit is not None else None
        return "before the loop" if first is None or sequence < first else "an earlier pass"

    def _borrow(self, func: Any, tensor: torch.Tensor) -> None:
        node: Any = tensor.grad_fn
        self.borrowed[id(tensor)] = (
            tensor,
            {
                "op": name_of_op(func),
                "site": places.of_frame(sys._getframe(3), columns=True),
                "module": self.trace.modules.path(),
                "node": node.name(),
                "age": self.age(node),
                "shape": list(tensor.shape),
            },
            holders.of(tensor, sys._getframe(3)),
        )

    # ------------------------------------------------------------------ after the exception

    def facts(self, error: BaseException | None) -> dict[str, Any] | None:
        """Plain facts where an exception came out of a backward call; None for any other."""
        if error is None or not self.calls or self.calls[-1]["ended"]:
            return None
        nodes, order = self.nodes[-1], self.walked[-1]
        failing = nodes[order[-1]] if order else None
        facts: dict[str, Any] = {
            "backwards": self.calls[-SHOWN:],
            "steps": self.writes.steps[-SHOWN:],
            "mode": self.modes.facts(),
            "returns": self.departures.returns,
            "recomputation": self.recomputations.facts(),
            "node": None if failing is None else self._node(failing),
            "borrowed": self._behind(failing),
        }
        if failing is not None and MODIFIED in str(error):
            facts["modified"] = self._modified(failing, str(error))
            if facts["modified"] and facts["modified"]["parameter"] and facts["modified"]["writes"]:
                first = facts["modified"]["writes"][0]["before_op"]
                facts["stale"] = self._stale(first, facts["modified"]["parameter"])
        return facts

    def roots(self) -> list[int]:
        """The ops that made what the last backward call starts from."""
        return [r["made_by"] for r in (self.calls[-1]["roots"] if self.calls else ()) if "made_by" in r]

    def _stale(self, written: int, parameter: str) -> dict[str, Any] | None:
        """The first op after a write to a parameter that works, for this backward call, with what it gave before."""

        def makers(number: int) -> list[int]:
            return self.trace.makers(number) if number > written else []

        after = [n for n in nearest_first(self.roots(), makers) if n > written]
        late = [n for n in after if any(m < written and self._depends(m, parameter) for m in makers(n))]
        op = self.trace.ops[min(late)] if late else None
        return None if op is None else {"op": op["op"], "site": op["site"]}

    def _depends(self, number: int, parameter: str) -> bool:
        inputs = (i for n in nearest_first([number], self.trace.makers) for i in self.trace.ops[n]["inputs"])
        return any(i.get("parameter") == parameter for i in inputs)

    def _node(self, node: Any) -> dict[str, Any]:
        earlier = next(
            (
                self.calls[i]["site"]
                for i, nodes in enumerate(self.nodes[:-1])
                if any(nodes[j] is node for j in self.walked[i])
            ),
            None,
        )
        again = (self.calls[-1]["site"] if self.calls else None) or {"file": "", "function": ""}
        return {
            "made_in": places.of_node_in(node, again["file"], again["function"]),
            "name": node.name(),
            "site": places.of_node(node),
            "age": self.age(node),
            "walked_at": earlier,
            "needs": [n is not None for n, _ in node.next_functions],
            "defined": _definition(node),
        }

    def _behind(self, failing: Any) -> list[dict[str, Any]]:
        """The tensors of older graphs that the pass used, those first through which the failing node is reached."""
        found = [
            facts
            | {
                "reaches": failing is not None and any(n is failing for n in reachable([tensor.grad_fn])),
                "held": [h for h, _ in held],
                # A state is another tensor by now, a constant part is the same one.
                "kept": held[0][1]() if held else None,
            }
            for tensor, facts, held in self.borrowed.values()
        ]
        return sorted(found, key=lambda f: not f["reaches"])[:SHOWN]

    def _modified(self, failing: Any, message: str) -> dict[str, Any] | None:
        """Which tensor that the failing node saved was written, and by what."""
        found = modified(failing, message)
        if found is None:
            return None
        slot, tensor, expected = found
        storage = storage_of(tensor)
        writes = self.writes.since(storage, expected or 0)
        return {
            "slot": slot,
            "shape": list(tensor.shape),
            "version": tensor._version,
            "expected": expected,
            "parameter": self._parameter(storage),
            "writes": writes[:SHOWN],
            "total_writes": len(writes),
        }

    def _parameter(self, storage: int | None) -> str | None:
        held = next((p for p in self._parameters() if storage_of(p) == storage), None)
        return self.trace.modules.tensor_name(held) if held is not None else None


def reachable(roots: list[Any]) -> Iterator[Any]:
    """The nodes of the graph behind ``roots``, those included."""
    seen = {n for n in roots if n is not None}
    queue = list(seen)
    while queue and len(seen) < units.NODES:
        node = queue.pop()
        yield node
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                queue.append(following)


def _appender(order: list[int], index: int) -> Callable[[Any], None]:
    def note(gradients: Any) -> None:
        order.append(index)

    return note


def _sequence(node: Any) -> int:
    number = getattr(node, "_sequence_nr", None)
    return int(number()) if number is not None else sys.maxsize


def _definition(node: Any) -> dict[str, Any] | None:
    """The backward of a function of the program's own: its class, and where it starts."""
    cls = getattr(type(node), "_forward_cls", None)
    code = getattr(getattr(cls, "backward", None), "__code__", None)
    if cls is None or code is None:
        return None
    return places.place(code.co_filename, code.co_firstlineno, code.co_name) | {"class": cls.__name__}
