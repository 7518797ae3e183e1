"""Forward passes of an evaluation that build a graph which no backward pass walks, and by how much memory rises meanwhile.

With ``settings["undone"]``, places as file and line, the passes that are called there run without gradients.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.live import resident

# A graph is walked so far at most to see which calls a loss was made from.
MOST_NODES = 20_000
# A node of autograd keeps a dict of its own: there stands the call that made it, without a reference to the graph.
MARK = "firstcause-call"
SHOWN = 4


class Watch(Watcher):
    """Facts: ``graphs``, a place a call: how often it was made, and by how many bytes memory rose since the last step."""

    def start(self) -> None:
        self.depth = 0
        # The module whose pass runs without gradients now, and whether the outermost pass did.
        self.undoing: torch.nn.Module | None = None
        self.is_undone = False
        self.undone = {(str(f), int(n)) for f, n in self.settings.get("undone") or ()}
        self.calls: dict[tuple[str, int], dict[str, Any]] = {}
        self.trained: set[tuple[str, int]] = set()
        self.floor = resident()
        torch.nn.modules.module.register_module_forward_pre_hook(self._enters)
        torch.nn.modules.module.register_module_forward_hook(self._leaves, always_call=True)

    def _enters(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        self.is_undone = False
        if self.undone and torch.is_grad_enabled():
            site = places.here()
            if site is not None and (site["file"], site["line"]) in self.undone:
                self.undoing, self.is_undone = module, True
                torch.set_grad_enabled(False)

    def _leaves(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        """Also where the pass raises: the program's next one has its gradients again."""
        if module is self.undoing:
            self.undoing = None
            torch.set_grad_enabled(True)

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        self.depth = max(0, self.depth - 1)
        if self.depth:
            return
        made = [t for t in _tensors(result) if t.grad_fn is not None]
        if module.training or not (made or self.is_undone):
            return
        site = places.here()
        if site is None:
            return
        key = (site["file"], site["line"])
        for tensor in made:
            tensor.grad_fn.metadata[MARK] = key
        call = self.calls.setdefault(
            key, {"site": site, "forwards": 0, "rise": 0, "module": type(module).__name__}
        )
        call["forwards"] += 1
        call["rise"] = max(call["rise"], resident() - self.floor)

    def loss(self, value: torch.Tensor) -> None:
        self._again()
        if self.trained >= self.calls.keys():
            return
        stack, seen = [value.grad_fn], set[Any]()
        while stack and len(seen) < MOST_NODES:
            node = stack.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            mark = node.metadata.get(MARK)
            if mark is not None:
                self.trained.add(mark)
            stack.extend(following for following, _ in node.next_functions)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self._again()
        self.floor = resident()

    def _again(self) -> None:
        # A forward that raised has left no word.
        self.depth = 0

    def facts(self) -> dict[str, Any]:
        found = [c for key, c in self.calls.items() if key not in self.trained]
        found.sort(key=lambda c: -int(c["rise"]))
        return {"graphs": found[:SHOWN]}


def _tensors(result: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        yield result
    elif depth and isinstance(result, (list, tuple)):
        for item in result:
            yield from _tensors(item, depth - 1)
    elif depth and isinstance(result, dict):
        for item in result.values():
            yield from _tensors(item, depth - 1)
