"""Inside the followed program: one line a step, of the state that the step began with and of what it was given.

Environment: ``FIRSTCAUSE_FOLLOW`` the file of the lines; ``FIRSTCAUSE_FOLLOW_STOP`` ends the process, as a crash would, when
so many steps are done; ``FIRSTCAUSE_FOLLOW_SEED`` names the sources of chance that are held still; ``FIRSTCAUSE_FOLLOW_OPS``
is the step whose ops are written down, too.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from firstcause.lab import components, held, places
from firstcause.lab.follow import still
from firstcause.lab.follow.ops import Ops
from firstcause.lab.payloads import together

LARGE = 8_000_000


class Follower:
    """Writes a line at each step's end; what it reads, it only hashes."""

    def __init__(self, path: str, stop: int | None, ops: Ops | None) -> None:
        self.process = os.getpid()
        # Of several processes, the one that takes the most steps is the training.
        self.path, self.file = f"{path}.{self.process}", -1
        self.stop, self.ops = stop, ops
        self.done = 0
        self.depth = 0
        self.row: dict[str, Any] = {}
        self.given: list[str] = []
        self.drawn: dict[str, str] = {}
        self.root: torch.nn.Module | None = None

    def begin(self) -> None:
        register_module_forward_pre_hook(self._enters)
        register_module_forward_hook(self._leaves, with_kwargs=True, always_call=True)
        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)
        save = torch.save

        @functools.wraps(save)
        def saving(*args: Any, **kwargs: Any) -> Any:
            result = save(*args, **kwargs)
            self._write({"saved": self.done})
            return result

        torch.save = saving
        if self.ops is not None and self.ops.step == 0:
            self.ops.__enter__()

    def _mine(self) -> bool:
        return os.getpid() == self.process and not torch.compiler.is_compiling()

    def _enters(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        if not self._mine():
            return
        self.depth += 1
        if self.depth == 1 and module.training and not self.drawn:
            self.drawn = {c.name: components.fingerprint(c) for c in components.generators([])}

    def _leaves(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        if not self._mine() or not self.depth:
            return
        self.depth -= 1
        if self.depth == 0 and module.training:
            self.root = module
            values = [*args, *kwargs.values()]
            inner = [x for v in values for x in (v.values() if isinstance(v, dict) else [v])]
            self.given.append(together(v for v in inner if isinstance(v, torch.Tensor) and v.numel() < LARGE))

    def _before(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self._mine():
            return
        if self.stop is not None and self.done >= self.stop:
            # As a crash: no handler of the program runs, and what it has written is on disk.
            os._exit(0)
        seen = held.held_from(sys._getframe(1))
        with torch.no_grad():
            self.row = self._state(optimizer, seen)

    def _state(self, optimizer: torch.optim.Optimizer, seen: list[held.Place]) -> dict[str, Any]:
        trained = [p for g in optimizer.param_groups for p in g["params"]]
        row: dict[str, Any] = {"params": together(trained), "site": places.of_frame(sys._getframe(2))}
        row["buffers"] = together(self.root.buffers()) if self.root is not None else ""
        row["lr"] = [float(g["lr"]) for g in optimizer.param_groups if "lr" in g]
        for one in components.of_training(optimizer, seen):
            if one.kind == "optimizer":
                row["optimizer"] = components.fingerprint(one)
            elif one.kind == "generator":
                row.setdefault("generators", {})[one.name] = components.fingerprint(one)
            else:
                row[f"{one.kind} {one.name}"] = components.fingerprint(one)
        for one in components.counters(seen):
            row[f"counter {one.name}"] = one.state
        return row

    def _after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self._mine() or not self.row:
            return
        gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        with torch.no_grad():
            self.row |= {
                "batch": "".join(self.given),
                "generators": self.row.get("generators", {}) | self.drawn,
            }
            self.row["gradients"] = together(g for g in gradients if not g.is_sparse)
        self.row["step"] = self.done
        self._write(self.row)
        self.row, self.given, self.drawn = {}, [], {}
        self.done += 1
        if self.ops is not None:
            if self.ops.open:
                self.ops.__exit__(None, None, None)
                self._write({"ops": self.ops.seen})
                os._exit(0)
            if self.ops.step == self.done:
                self.ops.__enter__()

    def _write(self, row: dict[str, Any]) -> None:
        if self.file < 0:
            self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self.file, (json.dumps(row, default=str) + "\n").encode())


def follow() -> None:
    """Begin, as the environment says."""
    environment = os.environ
    stop, step = environment["FIRSTCAUSE_FOLLOW_STOP"], environment["FIRSTCAUSE_FOLLOW_OPS"]
    still.hold([s for s in environment["FIRSTCAUSE_FOLLOW_SEED"].split(",") if s])
    ops = Ops(int(step)) if step else None
    Follower(environment["FIRSTCAUSE_FOLLOW"], int(stop) if stop else None, ops).begin()
