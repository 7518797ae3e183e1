"""The check of a step whose gradients lie on a device: queued there, and read when the device has come to it.

Nobody waits for it. A fused optimizer is given a flag that stands from the first gradient that is not finite on, and
leaves parameters and state alone by itself: they are those of the failing step when the host learns of it, a step or two
later. What is known then is written, what the update would have ruined is ruined, and the flag is not raised again.

Where ranks hold shards, a flag of one of them would part it from the others: their steps are read later and never held back.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import os
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import check, failure, row
from firstcause.record.observe.dead_device import is_dead
from firstcause.record.observe.kept import tensors_in
from firstcause.record.observe.left_out import are_narrow

if TYPE_CHECKING:
    from firstcause.record.observe.plan import Plan
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.snapshot import Snapshot

# Where a reading is worth deferring; "cpu" is added to try it where there is no card.
DEVICES = ("cuda", *filter(None, os.environ.get("FIRSTCAUSE_DEFERRED", "").split(",")))
# The first steps are read at once: torch makes the optimizer's state there, and the unit is only being found.
WARM = 2
# Steps that may be on their way. To wait for the oldest of them leaves the device the others to work on.
DEPTH = 2
LOSSES = 8
# A batch on the device is held until its step is read: not where that would be seen in the peak.
HELD_SHARE = 1 / 400


@dataclass(slots=True)
class Waiting:
    """One step on its way: what is needed of it when its values have arrived on the host."""

    step: int
    seconds: float
    rate: float
    plan: Plan
    window: list[Snapshot]
    guarded: bool
    # Whether a norm that is not finite is a failure: not under a GradScaler.
    looked: bool
    scaled: bool
    narrow: tuple[bool, ...]
    parameters: list[torch.Tensor]
    optimizer: weakref.ref[torch.optim.Optimizer]
    values: torch.Tensor
    event: Any


class Slots:
    """Pinned rows for the values of the steps on their way, each with the event that tells its arrival.

    Never given back: to free pinned memory after the context has died would end the process.
    """

    def __init__(self, width: int, device: torch.device) -> None:
        self.rows = torch.empty((DEPTH + 1, width), dtype=torch.float64, pin_memory=device.type == "cuda")
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.rows))
        # No more steps are on their way than there are rows: an event is recorded anew when its step is long read.
        self.events = [_event(device) for _ in range(DEPTH + 1)]
        self.next = 0

    def take(self, read: torch.Tensor) -> tuple[torch.Tensor, Any]:
        """The next row, with what is to arrive there under way, and its event."""
        self.next = (self.next + 1) % (DEPTH + 1)
        values = self.rows[self.next, : len(read)].copy_(read, non_blocking=True)
        event = self.events[self.next]
        event.record(torch.cuda.current_stream(read.device) if read.is_cuda else None)
        return values, event


class Deferred:
    """The steps on their way, and the flags that hold their updates back."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.waiting: deque[Waiting] = deque()
        self.flags: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}
        self.hooked: weakref.WeakSet[torch.optim.Optimizer] = weakref.WeakSet()
        self.off = False
        # The gradients' norms of a step that is over, while it is written: its gradients are gone.
        self.late_norms: dict[str, float] | None = None
        self.pid = os.getpid()
        # The tensors that an earlier pass began with: what is there again lives on without us.
        self.met: list[weakref.ref[torch.Tensor]] = []

    def takes(self, optimizer: torch.optim.Optimizer, plan: Plan, gradients: Sequence[torch.Tensor]) -> bool:
        """Whether this step may be read later: its optimizer is fused, and the only one of its pass."""
        recorder = self.recorder
        if recorder.step < WARM:
            self.met = [weakref.ref(t) for t in _tensors(recorder.window)]
        if (
            self.off
            or recorder.step < WARM
            or recorder.unit is None
            or not recorder.window
            or recorder.pending
            or recorder.rehearse >= 0
            or (recorder.most or recorder.optimizers) > 1
            or recorder._stepped
            or not plan.met
        ):
            return False
        if plan.deferred is None:
            plan.deferred = _is_fused(optimizer, gradients) and self._is_light(gradients[0].device)
            self.met = []
            if plan.deferred and not self.flags:
                recorder.session.journal.event("deferred", step=recorder.step, depth=DEPTH)
                atexit.register(self.last)
        return plan.deferred

    def add(
        self,
        optimizer: torch.optim.Optimizer,
        plan: Plan,
        parameters: list[torch.Tensor],
        gradients: Sequence[torch.Tensor],
    ) -> None:
        """Queue the reading of this step, and give the optimizer the flag."""
        recorder = self.recorder
        device = gradients[0].device
        # A GradScaler has its own flag there: an overflow is normal, and it leaves the step out by itself.
        scaled = optimizer.__dict__.get("found_inf") is not None
        sharded = any(check.shard(g) is not g for g in gradients[:1])
        looked = not scaled and not recorder.failed
        guarded = looked and not sharded
        if sharded:
            gradients = [check.shard(g) for g in gradients]
        flag, one = self._flag(device)
        losses = recorder.losses[-LOSSES:]
        with torch.no_grad():
            # In float64 a sum of squares of narrower values is finite wherever they are, so that the norm decides.
            norms = torch._foreach_norm(list(gradients), 2, dtype=torch.float64)
            # Few calls: where a step is short, each of them is what it costs.
            read = torch.stack([*norms, *(_scalar(x, device) for x in losses)])
            if guarded:
                torch._amp_foreach_non_finite_check_and_unscale_([read[: len(norms)]], flag, one)
            if plan.slots is None:
                plan.slots = Slots(len(gradients) + LOSSES, device)
            values, event = plan.slots.take(read)
        self.waiting.append(
            Waiting(
                recorder.step,
                recorder.step_seconds,
                row.rate(optimizer),
                plan,
                # Its snapshots are emptied when the pass is over.
                [] if recorder.failed else [s.twin() for s in recorder.window],
                guarded,
                looked,
                scaled,
                are_narrow(losses),
                parameters,
                weakref.ref(optimizer),
                values,
                event,
            )
        )
        if guarded:
            if optimizer not in self.hooked:
                self.hooked.add(optimizer)
                optimizer.register_step_post_hook(self._take_back)
            optimizer.found_inf = flag

    def settle(self, wait: bool = False, most: int = DEPTH) -> None:
        """Read the steps that have arrived; ``wait`` for all, or for the oldest where more than ``most`` are under way."""
        while self.waiting:
            oldest = self.waiting[0]
            if not oldest.event.query():
                if not wait and len(self.waiting) <= most:
                    return
                oldest.event.synchronize()
            self.waiting.popleft()
            self._read(oldest)

    def knows_better(self, error: BaseException | None) -> bool:
        """Whether a step before the one that raised ``error`` turns out to have failed."""
        if is_dead(error):
            return False
        self.settle(wait=True)
        return self.recorder.failed

    def last(self) -> None:
        """At the program's end: what is still on its way."""
        session = self.recorder.session
        if session.off or self.recorder.replay is not None or os.getpid() != self.pid:
            return
        try:
            self.settle(wait=True)
        except Exception as error:
            self.waiting.clear()
            if not is_dead(error):
                session.failed("the last steps")

    # ------------------------------------------------------------------ inside

    def _is_light(self, device: torch.device) -> bool:
        """Whether what a pass begins with may be held longer: no graph of a step, and little memory of the device."""
        window = self.recorder.window
        tensors = list(_tensors(window))
        if any(t.grad_fn is not None for t in tensors):
            return False
        met = {id(t) for r in self.met if (t := r()) is not None}
        own = [t for t in tensors if id(t) not in met and not t.requires_grad]
        own += [copy for s in window for _, copy in (*s.buffers, *s.copies)]
        held = sum(t.nbytes for t in own if t.device == device)
        return device.type != "cuda" or bool(held <= HELD_SHARE * torch.cuda.max_memory_allocated(device))

    def _flag(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        if device not in self.flags:
            self.flags[device] = torch.zeros((), device=device), torch.ones((), device=device)
        return self.flags[device]

    def _take_back(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        """torch's hook after the step: nothing of ours stays at the optimizer."""
        mine = optimizer.__dict__.get("found_inf")
        if any(mine is flag for flag, _ in self.flags.values()):
            del optimizer.__dict__["found_inf"]

    def _read(self, arrived: Waiting) -> None:
        values = arrived.values.tolist()
        count = len(arrived.parameters)
        norms, losses = tuple(values[:count]), values[count:]
        bad: tuple[int, ...] = ()
        if arrived.looked and not math.isfinite(sum(norms)):
            bad = tuple(i for i, v in enumerate(norms) if not math.isfinite(v))
        bad_losses = tuple(i for i, v in enumerate(losses) if not math.isfinite(v))
        verdict = check.Verdict(tuple(losses), norms, bad_losses, bad)
        optimizer = arrived.optimizer()
        if optimizer is not None:
            row.write(
                self.recorder, optimizer, verdict, arrived.plan, (arrived.step, arrived.seconds, arrived.rate)
            )
        if optimizer is None or self.recorder.failed:
            return
        left_out = arrived.scaled and self.recorder.left_out.too_many(losses, arrived.narrow)
        if bad or left_out:
            self._failed(arrived, verdict, optimizer)
        elif bad_losses and arrived.guarded:
            # Its gradients were finite, so its update was not held back: the next such step is caught before its own.
            self.off = True

    def _failed(self, arrived: Waiting, verdict: check.Verdict, optimizer: torch.optim.Optimizer) -> None:
        recorder = self.recorder
        held = [p for g in optimizer.param_groups for p in g["params"]]
        now = recorder.window, recorder.losses, recorder.step, recorder.step_seconds
        later = recorder.step - arrived.step - 1
        recorder.failed = True
        recorder.window, recorder.losses = arrived.window, []
        recorder.step, recorder.step_seconds = arrived.step, arrived.seconds
        names = failure.parameter_names(recorder)
        self.late_norms = {
            names[id(p)]: norm
            for p, norm in zip(arrived.parameters, verdict.norms, strict=True)
            if id(p) in names
        }
        try:
            failure.numeric(recorder, optimizer, verdict, held, arrived.parameters)
        finally:
            recorder.window, recorder.losses, recorder.step, recorder.step_seconds = now
            self.late_norms = None
            if arrived.guarded:
                self._release(arrived, verdict, later)

    def _release(self, arrived: Waiting, verdict: check.Verdict, later: int) -> None:
        """Let updates through again, and spoil what the one that was held back would have spoilt."""
        self.waiting = deque(w for w in self.waiting if not w.guarded)
        with torch.no_grad():
            for flag, _ in self.flags.values():
                flag.zero_()
            for i in verdict.bad_gradients:
                arrived.parameters[i].fill_(math.nan)
        updates = f"the update of step {arrived.step}"
        updates += f", and those of {later} more, were" if later else " was"
        spoilt = (
            f"the {len(verdict.bad_gradients)} parameters that it would have made non-finite were made so"
        )
        text = f"{updates} held back on the device until its state was written; then {spoilt}"
        self.recorder.session.journal.event("note", text=text)


class _Arrived:
    """The event of a device whose work is over when its call returns."""

    def record(self, stream: None) -> None:
        """There is nothing to come."""

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """There is nothing to wait for."""


def _event(device: torch.device) -> Any:
    return torch.cuda.Event() if device.type == "cuda" else _Arrived()


def _scalar(loss: torch.Tensor, device: torch.device) -> torch.Tensor:
    """One value of float64, as those are beside which it is put: of several kinds, each would be copied by itself."""
    value = loss if loss.numel() == 1 else loss.sum()
    return value.reshape(()).to(device, torch.float64, non_blocking=True)


def _tensors(window: Sequence[Snapshot]) -> Iterator[torch.Tensor]:
    return (t for s in window for v in s.values.values() for t in tensors_in(v))


def _is_fused(optimizer: torch.optim.Optimizer, gradients: Sequence[torch.Tensor]) -> bool:
    """Whether the optimizer takes a flag, and its gradients, or this rank's shards, are of one kind on one device."""
    held = [check.shard(g) for g in gradients]
    kinds = {(type(g), g.layout, g.device, g.dtype) for g in held}
    # Of nothing there is no greatest value: a rank may have no rows of a small tensor.
    if (
        len(kinds) != 1
        or not all(g.numel() for g in held)
        or not all(g.get("fused") for g in optimizer.param_groups)
    ):
        return False
    kind, layout, device, dtype = kinds.pop()
    return (
        kind is torch.Tensor
        and layout is torch.strided
        and device.type in DEVICES
        and dtype.is_floating_point
        and dtype.itemsize < torch.float64.itemsize
        and bool(getattr(optimizer, "_step_supports_amp_scaling", False))
    )
