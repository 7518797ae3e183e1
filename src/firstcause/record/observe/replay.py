"""The child's side of a replay: back to the mark, the body once more, and the comparison with what happened."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import elsewhere, privacy, rng
from firstcause.record.observe.dead_device import is_dead

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.snapshot import Snapshot


class Rewind(BaseException):
    """Unwinds the program's stack to the mark; in the sealed child only."""


class Replay:
    """One replay of the recorder's window, up to the same optimizer step or the same exception."""

    def __init__(
        self,
        recorder: Recorder,
        optimizer: torch.optim.Optimizer | None,
        error: Exception | None,
        result: int,
    ) -> None:
        self.recorder = recorder
        self.window = list(recorder.window)
        self.optimizer = optimizer
        self.error = error
        self.result = result
        self.steps_left = recorder.stepped.count(optimizer) if optimizer is not None else 0
        self.drawn: list[tuple[Any, dict[str, Any] | None]] = []
        self.done = False
        self.parameters = self._parameters()
        self.gradients = [p.grad for p in self.parameters]
        self.losses = list(recorder.losses)
        self.written = sorted({name for s in self.window for name in s.written()})
        self.observer: Any = None

    def _parameters(self) -> list[torch.Tensor]:
        optimizers = [*self.recorder.stepped, *self.recorder.reachable.optimizers.values()]
        if self.optimizer is not None:
            optimizers.append(self.optimizer)
        held = (p for o in optimizers for g in o.param_groups for p in g["params"])
        return list({id(p): p for p in held}.values())

    # ------------------------------------------------------------------ called by marked code

    def matches(self, k: int) -> bool:
        """Whether a mark begins this replay: never, where it has begun with the fork."""
        return False

    def begin(self, snapshot: Snapshot) -> None:
        """Called at the mark that ``matches`` answered for."""
        raise Rewind

    def unwound(self, k: int, error: BaseException | None) -> bool:
        return isinstance(error, Rewind) and k == self.window[-1].k and not self.done

    def passes(self) -> Iterator[tuple[Any, ...]]:
        """Put the state back, and give the names of each pass of the window."""
        for parameter in self.parameters:
            parameter.grad = None
        for copy in reversed(self.recorder.before):
            copy.put_back()
        self.window[0].put_back_state()
        self.observer = self.observe(self.recorder)
        for snapshot in self.window:
            self.drawn = list(snapshot.drawn)
            snapshot.put_back_random()
            if self.observer is not None:
                self.observer.pass_begins()
            yield tuple(snapshot.values.get(n) for n in snapshot.names)

    def given(self) -> tuple[Any, ...]:
        if not self.drawn:
            return ()
        value, state = self.drawn.pop(0)
        if state is not None:
            rng.set_global_state(state)
        return (value,)

    def loss(self, value: torch.Tensor) -> None:
        if self.observer is not None:
            self.observer.loss(value)

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step: the end of the replay, if it is the one that was checked."""
        if optimizer is self.optimizer:
            self.steps_left -= 1
            if self.steps_left <= 0:
                self.finish(None, reached=True)

    def unhandled(self, error: BaseException) -> None:
        """An exception leaves ``__main__``; the process that made this replay knows what to do about it."""

    def ended(self, error: BaseException | None) -> None:
        # A body that went through has only the exception around it to show: that of the step itself.
        own = isinstance(error, Rewind) or (error is not None and error is self.error)
        self.finish(None if own else error, reached=False)

    # ------------------------------------------------------------------ the end

    def finish(self, error: BaseException | None, reached: bool) -> None:
        """Compare, write the result, and leave the process; nothing of the program runs after this."""
        self.done = True
        try:
            if self.observer is not None:
                self.observer.__exit__(None, None, None)
            facts = self._compare(error, reached)
            if self.observer is not None:
                facts |= self._traced(error)
            if privacy.asked():
                facts = privacy.replayed(facts)
        except BaseException as own:
            import traceback

            facts = {
                "status": "lost",
                "exact": False,
                "why": f"our replay failed: {own!r}",
                "text": traceback.format_exc(limit=-5),
            }
        text = json.dumps(facts, default=str) + "\n"
        view = memoryview(text.encode())
        while view:
            view = view[os.write(self.result, view) :]
        os._exit(0)

    def _traced(self, error: BaseException | None) -> dict[str, Any]:
        """What the observer saw; nothing, where the device has died here too and gives no values back."""
        try:
            return {"trace": self.observer.facts(self.parameters, error)}
        except Exception as own:
            if not (is_dead(error) and is_dead(own)):
                raise
            return {}

    def _compare(self, error: BaseException | None, reached: bool) -> dict[str, Any]:
        from firstcause.record.observe import exceptions

        facts: dict[str, Any] = {
            "status": "replayed",
            "written_inputs": self.written,
            "passes": len(self.window),
        }
        refusal = self._refusal(error)
        if refusal is not None:
            return facts | refusal
        if self.error is not None:
            return facts | self._raised(exceptions.describe(self.error)[0], error)
        if not reached:
            return facts | not_reached(error)
        return facts | self._gradients()

    def _refusal(self, error: BaseException | None) -> dict[str, Any] | None:
        """What is said where the seal ended the replay: the program did something that cannot be undone."""
        from firstcause.errors import SealError
        from firstcause.record.observe import exceptions
        from firstcause.sandbox.refusal import refused

        if not isinstance(error, SealError):
            # The program may have caught the refusal and gone on with something else than it did then.
            swallowed = refused()
            why = f"not replayable: {swallowed[0]}, and the program went on without it" if swallowed else ""
            return {"status": "refused", "exact": False, "why": why} if swallowed else None
        line = self._place({"frames": exceptions.frames(error.__traceback__)})[1]
        return {
            "status": "refused",
            "exact": False,
            "why": f"not replayable past line {line}: {error.message}",
        }

    def _raised(self, then: dict[str, Any], error: BaseException | None) -> dict[str, Any]:
        """Whether the replay raised what the step raised: type, message, and the innermost line of the program."""
        from firstcause.record.observe import exceptions

        now = exceptions.describe(error)[0] if error is not None else None
        same = now is not None and (then["type"], _said(then)) == (now["type"], _said(now))
        same = same and self._place(then) == self._place(now)
        instead = f"{now['type']}: {now['message']}" if now is not None else "nothing"
        why = "" if same else f"the step raised {then['type']}, its replay {instead}"
        facts = {"exact": same, "why": why, "exception": now}
        if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1" and now is not None and is_dead(error):
            # Its type may be another one: who launches a kernel without torch raises what it likes.
            file, line = self._place(now)
            said = str(now["message"]).partition("\n")[0]
            facts["why"] = (
                f"with each launch waited for, {said} is raised at {file}:{line}, where the step only heard of it"
            )
            own = [f for f in now["frames"] if (f["file"], f["line"]) == (file, line)]
            facts |= {"launched": own[-1]} if own else {}
        return facts

    def _place(self, raised: dict[str, Any] | None) -> tuple[str, int]:
        """The innermost line of the program that an exception passed; the replay has frames of its own below it."""
        finder = self.recorder.session.finder
        own = [
            f
            for f in (raised or {}).get("frames", [])
            if finder is not None and finder.is_project_file(f["file"])
        ]
        return (own[-1]["file"], own[-1]["line"]) if own else ("", 0)

    def _gradients(self) -> dict[str, Any]:
        pairs = [
            (p.grad, old)
            for p, old in zip(self.parameters, self.gradients, strict=True)
            if old is not None or p.grad is not None
        ]
        equal = sum(_same_bits(new, old) for new, old in pairs)
        why = ""
        if equal < len(pairs):
            why = f"{len(pairs) - equal} of {len(pairs)} gradients differ from the recorded step"
            if self.recorder.pending:
                why += ": gradients of earlier steps had never been cleared, and they are not kept"
            elif not self.recorder.window_complete:
                why += ": more passes were accumulated than are kept"
            elif self.written:
                why += f": {', '.join(self.written)} was written in place by the step"
            elif _compiled():
                why += ": the program was compiled, the replay runs eagerly"
        return {"exact": equal == len(pairs), "why": why, "gradients": len(pairs), "equal": equal}

    def observe(self, view: Any) -> Any:
        """The deep observer that the command line named."""
        if _compiled() and hasattr(torch.compiler, "set_stance"):
            torch.compiler.set_stance("force_eager")
        name = os.environ.get("FIRSTCAUSE_DEEP", "")
        if not name:
            return None
        observer = elsewhere.named(name)(view, self.window)
        observer.__enter__()
        return observer


def _said(exception: dict[str, Any]) -> str:
    """The message without what differs in a replay of the same step.

    Torch's hint is another one under anomaly mode, and a parameter that was put back has been written once more.
    """
    return re.sub(r"version \d+", "version", str(exception["message"]).partition(" Hint: ")[0])


def not_reached(error: BaseException | None) -> dict[str, Any]:
    instead = f"{type(error).__name__}: {error}" if error is not None else "nothing"
    return {
        "status": "diverged",
        "exact": False,
        "why": f"the replay raised {instead} and did not reach the step",
    }


def _compiled() -> bool:
    """Whether anything was compiled in this process; torch imports its compiler also where nothing is."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo is not None and bool(dynamo.counters.get("frames"))


def _same_bits(new: torch.Tensor | None, old: torch.Tensor | None) -> bool:
    if new is None or old is None:
        return new is old
    if new.shape != old.shape or new.dtype != old.dtype or new.layout != old.layout:
        return False
    if new.layout is not torch.strided:
        new, old = new.to_dense(), old.to_dense()
    # Bit for bit, so that NaN equals itself; only the sign of zero is let go.
    same = (new == old) | (torch.isnan(new) & torch.isnan(old))
    return bool(same.all())
