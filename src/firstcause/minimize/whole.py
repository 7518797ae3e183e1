"""The whole program on a tape, from its first statement to its exception: for what fails outside of a step that is kept."""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import threading
from types import FrameType
from typing import Any

import torch

from firstcause.minimize.tape import Tape

# Held at most; then the tape begins anew with what there is.
MOST_BYTES, MOST_CALLS = 1 << 30, 50_000


class WholeTape(Tape):
    """A tape that is begun anew where it gets too large, and that gives its facts once the program has ended."""

    def __init__(self, plan: dict[str, Any], result: int) -> None:
        super().__init__()
        self.plan, self.result = plan, result
        self.bytes = 0
        self.done = self.ready = False
        self.backwards = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.ready and not self.calling:
            # torch has taken the mode away for as long as this call is handled.
            self.finish(None, heard=False)
        return super().__torch_function__(func, types, args, kwargs)

    def _number(self, x: torch.Tensor) -> int:
        with torch._C.DisableTorchFunction():
            self.bytes += x.numel() * x.element_size() if x.layout is torch.strided else 0
        return super()._number(x)

    def _append(self, call: Any) -> None:
        super()._append(call)
        if call.name.endswith("backward") and self.inside.at is None:
            self.backwards += 1
            derived = any(e.kind == "function" and e.runs > 1 for e in self.inside.entered)
            enough = self.backwards >= self.plan.get("steps", 1 << 60)
            self.ready = enough and (derived or not self.plan.get("function"))
        if (
            (self.bytes > MOST_BYTES or len(self.calls) > MOST_CALLS)
            and self.inside.at is None
            and not self.calling
        ):
            self._anew()

    def _anew(self) -> None:
        for held in (
            self.leaves,
            self.calls,
            self.places,
            self.births,
            self.raised,
            self.drawn,
            self.numbers,
            self.held,
        ):
            held.clear()
        self.inside.forget()
        self.bytes = 0
        gc.collect()

    def begin(self) -> None:
        """From here on; the program's exception, its end or the end of its time ends it."""
        hook = sys.excepthook

        def excepted(kind: Any, error: BaseException, trace: Any) -> None:
            self.finish(error)
            hook(kind, error, trace)

        sys.excepthook = excepted
        atexit.register(self.finish, None)
        self.__enter__()

    def finish(self, error: BaseException | None, heard: bool = True) -> None:
        """Write the facts of the smallest program, and leave the process."""
        if self.done or threading.current_thread() is not threading.main_thread():
            return
        self.done = True
        if heard:
            self.__exit__(None, None, None)
        else:
            self.inside.__exit__()
        try:
            parameters = [p for p in gc.get_objects() if isinstance(p, torch.nn.Parameter)]
            trace = self.facts(parameters, error)
        except Exception as own:  # noqa: BLE001
            trace = {"why": f"{type(own).__name__}: {own}"}
        text = json.dumps({"trace": trace}, default=str) + "\n"
        view = memoryview(text.encode())
        while view:
            view = view[os.write(self.result, view) :]
        os._exit(0)


def start(plan_path: str, result: int, frame: FrameType) -> None:
    """Put the program whose ``__main__`` is about to run in ``frame`` on a tape."""
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    WholeTape(plan, result).begin()
