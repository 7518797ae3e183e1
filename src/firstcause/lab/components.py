"""What a training consists of besides its weights: optimizer, scheduler, generators, average, counters; read and put back."""

from __future__ import annotations

import copy
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from firstcause.lab.held import Place
from firstcause.lab.payloads import Payload, digest, together
from firstcause.record.observe import rng
from firstcause.record.observe.reachable import everything_of

SCHEDULE_KEYS = ("last_epoch", "_step_count", "num_bad_epochs", "best")
# The order in which one that is missing explains what differs in the next.
KINDS = ("counter", "optimizer", "scheduler", "scaler", "generator", "average")


@dataclass
class Component:
    """One of them: its kind, a name that survives a new object, the object, and a copy of its state."""

    kind: str
    name: str
    thing: Any
    state: Any

    def saved_in(self, payload: Payload) -> bool:
        if id(self.thing) in payload.objects and self.kind not in ("counter", "generator"):
            return True
        if self.kind == "optimizer":
            return payload.holds_tensors(_moments(self.state["state"]))
        if self.kind in ("scheduler", "scaler"):
            return payload.holds_table(self.state, (*SCHEDULE_KEYS, "scale", "_growth_tracker"))
        if self.kind == "average":
            return payload.holds_tensors(self.state)
        if self.kind == "generator":
            return _holds_state(payload, self.state)
        return self.state in payload.numbers.values()


def optimizers_of(parameters: set[int]) -> list[torch.optim.Optimizer]:
    """The optimizers that live and hold at least half of some parameters."""
    found: list[torch.optim.Optimizer] = everything_of(torch.optim.Optimizer)[0]
    return [
        o
        for o in found
        if hasattr(o, "param_groups")
        and 2 * len(parameters & {id(p) for g in o.param_groups for p in g["params"]}) >= len(parameters) > 0
    ]


def of_training(optimizer: torch.optim.Optimizer, places: Sequence[Place]) -> list[Component]:
    """The optimizer, its schedulers, a gradient scaler, every generator, and averages of its weights."""
    found = [of_optimizer(optimizer)]
    schedulers = everything_of(torch.optim.lr_scheduler.LRScheduler)[0]
    found += [of_scheduler(s) for s in schedulers if _drives(s, optimizer)]
    found += [
        Component("scaler", h.key, h.value, h.value.state_dict())
        for h in _each(places)
        if type(h.value).__name__ == "GradScaler" and h.value.is_enabled()
    ]
    found += generators(places)
    return found + averages(optimizer, places)


def _drives(scheduler: Any, optimizer: torch.optim.Optimizer) -> bool:
    """Whether a schedule is this optimizer's, also by way of what accelerate wraps around it."""
    driven = getattr(scheduler, "optimizer", None)
    return driven is optimizer or getattr(driven, "optimizer", None) is optimizer


def of_optimizer(optimizer: torch.optim.Optimizer) -> Component:
    return Component("optimizer", type(optimizer).__name__, optimizer, copy.deepcopy(optimizer.state_dict()))


def of_scheduler(scheduler: Any) -> Component:
    return Component("scheduler", type(scheduler).__name__, scheduler, copy.deepcopy(scheduler.state_dict()))


def generators(places: Sequence[Place]) -> list[Component]:
    """The process's own generators and those that the program's frames hold."""
    found = [
        Component("generator", "torch", torch, torch.get_rng_state()),
        Component("generator", "python", random, random.getstate()),
    ]
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        found.append(Component("generator", "numpy", numpy, numpy.random.get_state()))
    for held in _each(places):
        if rng.is_generator(held.value):
            found.append(
                Component("generator", held.key, held.value, copy.deepcopy(rng.state_of(held.value)))
            )
    return found


def counters(places: Sequence[Place]) -> list[Component]:
    """Whole numbers that objects of the program hold."""
    return [
        Component("counter", h.key, h.owner, h.value)
        for h in _each(places)
        if type(h.value) is int and h.owner is not None and hasattr(h.owner, "__dict__")
    ]


def averages(optimizer: torch.optim.Optimizer, places: Sequence[Place]) -> list[Component]:
    """What has the shapes of the trained weights and is not trained: another network, or a table of tensors."""
    trained = [p for g in optimizer.param_groups for p in g["params"]]
    shapes, own = Counter(p.shape for p in trained), {p.untyped_storage().data_ptr() for p in trained}
    found = []
    for held in _each(places):
        tensors = [t for t in _tensors(held.value) if t.is_floating_point()]
        fits = bool(shapes) and not shapes - Counter(t.shape for t in tensors)
        memory = {t.untyped_storage().data_ptr() for t in tensors}
        if fits and not memory & own:
            # The state_dict that was saved of it and is still held is the same average.
            own |= memory
            found.append(Component("average", held.key, held.value, [t.detach().clone() for t in tensors]))
    return found


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.nn.Module):
        return list(value.parameters())
    if type(value) in (list, tuple):
        return list(value) if value and all(isinstance(v, torch.Tensor) for v in value) else []
    if isinstance(value, dict):
        return [v for v in value.values() if isinstance(v, torch.Tensor)]
    return []


def put_back(component: Component, state: Any) -> None:
    """Give a live component a state that was copied before."""
    if component.kind in ("optimizer", "scheduler", "scaler"):
        component.thing.load_state_dict(copy.deepcopy(state))
    elif component.kind == "average":
        with torch.no_grad():
            floats = [t for t in _tensors(component.thing) if t.is_floating_point()]
            for mine, saved in zip(floats, state, strict=False):
                mine.copy_(saved)
    elif component.kind == "counter":
        setattr(component.thing, component.name.rpartition(".")[2], state)
    elif component.name == "torch":
        torch.set_rng_state(state)
    elif component.name == "python":
        random.setstate(state)
    elif component.name == "numpy":
        component.thing.random.set_state(state)
    else:
        rng.set_state_of(component.thing, state)


def same(one: Component, other: Component) -> bool:
    """Whether two components are in the same state."""
    if one.kind == "optimizer":
        mine, theirs = list(_moments(one.state["state"])), list(_moments(other.state["state"]))
        return len(mine) == len(theirs) and all(
            a.shape == b.shape and torch.equal(a, b) for a, b in zip(mine, theirs, strict=True)
        )
    if one.kind in ("scheduler", "scaler"):
        return all(one.state.get(k) == other.state.get(k) for k in (*SCHEDULE_KEYS, "scale"))
    if one.kind == "average":
        return all(torch.equal(a, b) for a, b in zip(one.state, other.state, strict=False))
    if one.kind == "generator":
        return plain(one.state) == plain(other.state)
    return bool(one.state == other.state)


def averages_same(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    """Whether each of some weights is among the tensors of an average, value by value."""
    among = {digest(t) for t in one}
    return all(digest(t) in among for t in other)


def is_fresh(component: Component) -> bool:
    """Whether a component is as it is made: an optimizer without moments, a schedule at its start."""
    if component.kind == "optimizer":
        return not component.state["state"]
    if component.kind == "scheduler":
        return (
            int(component.state.get("last_epoch", 0)) <= 0 and int(component.state.get("_step_count", 0)) <= 1
        )
    if component.kind == "scaler":
        return int(component.state.get("_growth_tracker", 0)) == 0
    return component.kind in ("generator", "average") or component.state == 0


def matching(component: Component, among: Sequence[Component]) -> Component | None:
    """The one of the same kind and name; of the same kind where there is only one."""
    alike = [c for c in among if c.kind == component.kind]
    named = [c for c in alike if c.name == component.name]
    return named[0] if named else alike[0] if len(alike) == 1 else None


def _moments(state: dict[Any, Any]) -> Iterator[torch.Tensor]:
    for own in state.values():
        values = own.values() if isinstance(own, dict) else ()
        yield from (v for v in values if isinstance(v, torch.Tensor) and v.numel() > 1)


def _each(places: Sequence[Place]) -> Iterator[Any]:
    """What the frames hold, each thing once."""
    seen: set[tuple[int, str]] = set()
    for place in places:
        for held in place.held:
            # Small numbers are one object each: whose attribute it is tells them apart.
            key = (id(held.owner), held.attribute) if type(held.value) is int else (id(held.value), "")
            if key not in seen:
                seen.add(key)
                yield held


def _holds_state(payload: Payload, state: Any) -> bool:
    if isinstance(state, torch.Tensor):
        return digest(state) in payload.digests
    text = plain(state)
    arrays = [p for p in (state if isinstance(state, tuple) else ()) if type(p).__name__ == "ndarray"]
    return any(digest(a) in payload.digests for a in arrays) or any(
        type(v) is type(state) and plain(v) == text for v in (*payload.leaves, *payload.tables)
    )


def plain(state: Any) -> str:
    """A generator's state as text that can be compared."""
    if isinstance(state, torch.Tensor):
        return digest(state)
    if isinstance(state, tuple):
        return repr([plain(s) if hasattr(s, "shape") else s for s in state])
    if isinstance(state, dict):
        return repr({k: plain(v) for k, v in state.items()})
    return digest(state) if hasattr(state, "shape") else repr(state)


def fingerprint(component: Component) -> str:
    """A component's state as a short text: empty for an optimizer without moments."""
    if component.kind == "optimizer":
        moments = list(_moments(component.state["state"]))
        return together(moments) if moments else ""
    if component.kind in ("scheduler", "scaler"):
        return repr({k: component.state[k] for k in (*SCHEDULE_KEYS, "scale") if k in component.state})
    if component.kind == "average":
        return together(component.state)
    if component.kind == "generator":
        return together([torch.frombuffer(bytearray(plain(component.state).encode()), dtype=torch.uint8)])
    return repr(component.state)
