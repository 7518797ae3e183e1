"""The light recorder: what marked code and torch's step hook call, step after step, in the user's process."""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import check, failure, fingerprint, library_loops, row, running, units
from firstcause.record.observe.dead_device import is_dead
from firstcause.record.observe.deferred import DEPTH, Deferred
from firstcause.record.observe.guard import guarded
from firstcause.record.observe.kept import keep_attributes
from firstcause.record.observe.left_out import LeftOut
from firstcause.record.observe.looks import Looks
from firstcause.record.observe.marks import CANDIDATES
from firstcause.record.observe.memory import Memory
from firstcause.record.observe.optimizer_copy import OptimizerCopy, Spare
from firstcause.record.observe.plan import Plans
from firstcause.record.observe.reachable import MODULE_OWN, Reachable, everything_of, is_own_class, reach
from firstcause.record.observe.replay import Replay
from firstcause.record.observe.snapshot import Snapshot
from firstcause.record.observe.writes import Writes, counts_writes

if TYPE_CHECKING:
    from firstcause.record.observe.session import Session

# A window of accumulated gradients longer than this is not kept; the replay then says that it is not exact.
WINDOW = 64


class Recorder:
    """One process's recording: the unit, its window of snapshots, the check, and the replay on failure."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.step = 0
        self.unit: int | None = None
        self.window: list[Snapshot] = []
        self.window_complete = True
        # The window of the pass whose steps are over, where it is small: an exception may still come before its end.
        self.over: Snapshot | None = None
        self.candidates: dict[int, Snapshot] = {}
        self.losses: list[torch.Tensor] = []
        self.first_node: int | None = None
        # Autograd's sequence number at the first mark of each candidate: older nodes were made before its loop.
        self.first_sequences: dict[int, int | None] = {}
        self._stepped: list[weakref.ref[torch.optim.Optimizer]] = []
        # Steps in the longest pass of the unit so far; None until one pass is over.
        self.most: int | None = None
        self.optimizers = 0
        self.before: list[OptimizerCopy] = []
        self.spare = Spare()
        self.mutated: dict[int, frozenset[str]] = {}
        self.fresh = True
        self.pending = self.failed = self.described = False
        self.replayed_exceptions: set[tuple[str, int]] = set()
        self.marks, self.next_look = 0, 1
        self._names: dict[str, Any] = {}
        self.seconds = time.perf_counter()
        self.step_seconds = 0.0
        self.reachable = Reachable()
        # The candidate from whose frame that was found: paths begin with the names that its frame has.
        self.found_from: int | None = None
        self.modules_seen = 0
        self._buffers: list[weakref.ref[torch.Tensor]] = []
        self.written_buffers: set[int] | None = None
        self.buffer_versions: dict[int, int] = {}
        self.running: dict[int, set[int]] = {}
        self.writes = Writes()
        self.plans = Plans()
        self.memory = Memory()
        self.looks = Looks()
        self.deferred = Deferred(self)
        self.left_out = LeftOut()
        self.replay: Replay | None = None
        if session.replay:
            # Much code, which only a sealed process needs.
            from firstcause.record.observe import branch

            self.replay = branch.wanted(self)
        self.rehearse = int(os.environ.get("FIRSTCAUSE_REHEARSE", "-1"))

    # ------------------------------------------------------------------ what marked code calls

    @guarded(None)
    def mark(self, k: int, values: tuple[Any, ...], frame: FrameType) -> None:
        if self._awake(k):
            self._mark(k, dict(zip(CANDIDATES[k].names, values, strict=True)), frame)

    def name(self, label: str, value: Any) -> None:
        """The slow way, where some names are unbound: one call a name that is bound, then ``named``."""
        self._names[label] = value

    @guarded(None)
    def named(self, k: int, frame: FrameType) -> None:
        names, self._names = self._names, {}
        if self._awake(k):
            self._mark(k, names, frame)

    @guarded(None)
    def loss(self, value: Any) -> None:
        if not isinstance(value, torch.Tensor):
            return
        if self.replay is not None:
            self.replay.loss(value)
            return
        self.losses.append(value.detach())
        if not value.is_cuda:
            self.looks.loss(self.step, value)
        # A backward pass follows: only what is cleared after it begins a new window.
        self.fresh = False
        if self.unit is None and value.grad_fn is not None:
            outermost = min(
                (s.sequence for s in self.candidates.values() if s.sequence is not None), default=0
            )
            first = units.first_node(value, outermost)
            if first is not None:
                self.first_node = first if self.first_node is None else min(first, self.first_node)

    @guarded(None)
    def zeroed(self, holder: Any) -> None:
        if self.replay is not None or type(holder).__module__.startswith(library_loops.WRAPPERS):
            return
        if self.window and not self.losses:
            self.window = self.window[-1:]
            self.window_complete, self.pending = True, False
        self.fresh = True

    @guarded(None)
    def drawn(self, value: Any) -> None:
        if self.window and self.replay is None:
            self.window[-1].keep_drawn(value)

    def given(self) -> tuple[Any, ...]:
        return self.replay.given() if self.replay is not None else ()

    # ------------------------------------------------------------------ the check

    @guarded(None)
    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> Any:
        """torch's hook; a closure computes the gradients inside the step, so it is checked after each call."""
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is None:
            self._arrive(optimizer)
            return None

        def checked() -> Any:
            value = closure()
            self._arrive(optimizer)
            return value

        if len(args) > 1:
            return (args[0], checked, *args[2:]), kwargs
        return args, {**kwargs, "closure": checked}

    @guarded(None)
    def _arrive(self, optimizer: torch.optim.Optimizer) -> None:
        if self.replay is not None:
            self.replay.arrived(optimizer)
            return
        self.deferred.settle(most=DEPTH - 1)
        self._settle_unit()
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = [g for p in parameters if (g := p.grad) is not None]
        with_gradient = parameters
        if len(gradients) < len(parameters):
            with_gradient = [p for p in parameters if p.grad is not None]
        plan = self.plans.of(with_gradient, gradients)
        if self.deferred.takes(optimizer, plan, gradients):
            self.deferred.add(optimizer, plan, with_gradient, gradients)
            self._stepped.append(weakref.ref(optimizer))
        else:
            self.deferred.settle(wait=True)
            verdict = check.weigh(self.losses, gradients, plan.groups)
            row.write(self, optimizer, verdict, plan)
            self._stepped.append(weakref.ref(optimizer))
            if not self.failed and self.left_out.is_failure(optimizer, verdict, self.losses):
                self.failed = True
                failure.numeric(self, optimizer, verdict, parameters, with_gradient)
            elif self.step == self.rehearse:
                failure.rehearse(self, optimizer)
            self.looks.before(self.step, optimizer, with_gradient, self.session.journal)
        self._passed(optimizer)

    def caught(self, k: int, error: BaseException | None, frame: FrameType) -> bool:
        if self.replay is not None:
            return self.replay.unwound(k, error)
        return self._exception(k, error, frame)

    def again(self, k: int) -> Iterator[tuple[Any, ...]]:
        assert self.replay is not None
        return self.replay.passes()

    def leave(self, error: BaseException | None) -> None:
        assert self.replay is not None
        self.replay.ended(error)

    # ------------------------------------------------------------------ inside

    # What belongs to the program is held weakly between two marks: it may let go of it.

    @property
    def stepped(self) -> list[torch.optim.Optimizer]:
        """The optimizers that have stepped in this pass, in order."""
        return [o for r in self._stepped if (o := r()) is not None]

    @property
    def buffers(self) -> list[torch.Tensor]:
        return [b for r in self._buffers if (b := r()) is not None]

    @property
    def parameters(self) -> list[torch.Tensor]:
        return self.writes.parameters

    def _awake(self, k: int) -> bool:
        if self.replay is not None:
            return self.replay.matches(k)
        return self.unit is None or k == self.unit

    def _mark(self, k: int, values: dict[str, Any], frame: FrameType) -> None:
        self.over = None
        self.deferred.settle()
        self.left_out.look(self)
        snapshot = Snapshot(k, CANDIDATES[k].names, frame)
        self.marks += 1
        if self.marks == self.next_look or len(self.reachable.modules) < self.modules_seen:
            # At the first marks and then ever more rarely: what a loop makes later is found too.
            self.next_look = self.marks * (2 if self.marks < 4 else 4)
            self._look_around(k, frame, values)
        snapshot.keep_values(values, self.mutated.get(k, frozenset()))
        snapshot.keep_generators(self.reachable.generators.values())
        snapshot.keep_buffers(self._buffers_to_keep())
        if len(self.reachable.objects):
            self._keep_objects(snapshot)
        self.writes.at_mark()
        if self.replay is not None:
            self.replay.begin(snapshot)
        if self.unit is None:
            snapshot.sequence = units.sequence()
            self.first_sequences.setdefault(k, snapshot.sequence)
            self.candidates.pop(k, None)
            self.candidates[k] = snapshot
        self._extend_window(snapshot)

    def _exception(self, k: int, error: BaseException | None, frame: FrameType) -> bool:
        """Replay a step that raised, in a sealed child; True only there."""
        if (
            not isinstance(error, Exception)
            or isinstance(error, (StopIteration, StopAsyncIteration))
            or self.failed
        ):
            return False
        try:
            if self.deferred.knows_better(error):
                return False
            if self.unit is None:
                chosen = units.choose(self.candidates, self.first_node, units.raised(error))
                if chosen is None or chosen != k:
                    return False
                self._use(chosen, frame)
            elif k != self.unit:
                return False
            # After its step, the pass is repeated with the parameters of now.
            if not self.window and self.over is not None and self.over.woken(frame):
                self.window = [self.over]
            return failure.exception(self, error)
        except Exception as own:
            if not is_dead(own):
                self.session.failed("exception")
            return False

    def _settle_unit(self) -> None:
        if self.unit is not None and not self.window:
            # A step after the last one that was expected, or of another loop: look at all candidates again.
            self.most = max(self.most or 0, len(self.stepped) + 1)
            self.unit = None
        if self.unit is None:
            chosen = units.choose(self.candidates, self.first_node, units.stack(sys._getframe(2)))
            if chosen is not None:
                number = self.candidates[chosen].frame_id
                self._use(chosen, next(f for f, _ in units.stack(sys._getframe(2)) if id(f) == number))

    def _use(self, k: int, frame: FrameType) -> None:
        self.unit = k
        if self.found_from != k:
            self._look_around(k, frame, self.candidates[k].values)
        self.window = [s for s in self.window if s.k == k] or [self.candidates[k]]
        self.candidates = {}
        self.first_node = None
        if not self.described:
            self.described = True
            self.session.journal.event("first-step", **fingerprint.first_step(self.window[-1]))

    def _extend_window(self, snapshot: Snapshot) -> None:
        if self.unit is None:
            # Not known yet which of them is the unit: each keeps its latest, in order.
            self.window = [s for s in self.window if s.k != snapshot.k] + [snapshot]
            if self.stepped:
                self._new_pass()
        elif self.stepped or self.fresh or not self.window:
            self.window, self.window_complete = [snapshot], True
            self._new_pass()
        else:
            self.window.append(snapshot)
            if len(self.window) > WINDOW:
                del self.window[0]
                self.window_complete = False

    def _new_pass(self) -> None:
        """A pass begins after a step: what was counted and kept for the one before is over."""
        self.pending = not self.fresh and any(
            p.grad is not None for o in self.stepped for g in o.param_groups for p in g["params"]
        )
        self.fresh = False
        if self.stepped:
            self.most = max(self.most or 0, len(self.stepped))
        self._stepped, self.before, self.losses = [], [], []

    def _passed(self, optimizer: torch.optim.Optimizer) -> None:
        """Let go of what this step needed, once the last optimizer of the unit has come."""
        now = time.perf_counter()
        self.step_seconds, self.seconds = now - self.seconds, now
        self.memory.after(self.step, self.session.journal)
        self.step += 1
        self._note_writes()
        if self.unit is None:
            self.losses = []
        elif len(self.stepped) < (self.most or self.optimizers):
            # Another optimizer may follow in this pass, and its replay starts from before this one's step.
            if not any(c.optimizer is optimizer for c in self.before):
                self.before.append(OptimizerCopy(optimizer, self.spare))
        elif not self.failed:
            self.over = self.window[0].fade() if len(self.window) == 1 else None
            self.window, self.losses, self.before = [], [], []

    def _note_writes(self) -> None:
        """Learn which buffers and inputs a pass writes in place: from now on they are copied at the mark."""
        if self.window and self.unit is not None:
            written = self.window[-1].written()
            if written:
                self.mutated[self.unit] = self.mutated.get(self.unit, frozenset()) | written
        if self.buffer_versions:
            changed = {id(b) for b in self.buffers if b._version != self.buffer_versions.get(id(b))}
            changed = changed.union(*(self.running.get(b, ()) for b in (*changed, 0)))
            self.written_buffers = changed | (self.written_buffers or set())
        if not self.before:
            self.writes.at_step()

    def _look_around(self, k: int, frame: FrameType, values: dict[str, Any]) -> None:
        finder = self.session.finder
        known: dict[type, bool] = {}

        def own(kind: type) -> bool:
            if kind not in known:
                own_class = finder is not None and is_own_class(kind, finder.is_project_file)
                known[kind] = own_class or kind.__module__.startswith(library_loops.COUNTING)
            return known[kind]

        self.reachable, self.found_from = reach(frame, own, values), k
        self.modules_seen = len(self.reachable.modules)
        self.left_out.scaler = any(type(o).__name__ == "GradScaler" for o in self.reachable.objects.values())
        # Buffers may hang on a module that no variable names: the garbage collector knows them all.
        modules, optimizers = everything_of(torch.nn.Module, torch.optim.Optimizer)
        self.optimizers = len(optimizers)
        spaces = [object.__getattribute__(m, "__dict__") for m in modules]
        buffers = (b for s in spaces for b in s.get("_buffers", {}).values() if counts_writes(b))
        self._buffers = [weakref.ref(b) for b in {id(b): b for b in buffers}.values()]
        held = (p for s in spaces for p in s.get("_parameters", {}).values() if counts_writes(p))
        self.writes.follow({id(p): p for p in held}.values())
        self.running = running.beside(spaces)
        self.buffer_versions = {}
        if self.marks <= 2:
            self.written_buffers = None

    def _buffers_to_keep(self) -> list[torch.Tensor]:
        """Buffers that a pass was seen to write (all, before the first pass is over), and parameters likewise."""
        written: list[torch.Tensor] = []
        if self.writes.written:
            written = [p for p in self.parameters if id(p) in self.writes.written]
        if self.written_buffers is None:
            self.buffer_versions = {id(b): b._version for b in self.buffers}
            return written + self.buffers
        if self.written_buffers:
            written += [b for b in self.buffers if id(b) in self.written_buffers]
        return written

    def _keep_objects(self, snapshot: Snapshot) -> None:
        for reference in self.reachable.objects.valuerefs():
            owner = reference()
            if owner is not None:
                own = MODULE_OWN if isinstance(owner, torch.nn.Module) else frozenset()
                keep_attributes(owner, own, snapshot.kept)
