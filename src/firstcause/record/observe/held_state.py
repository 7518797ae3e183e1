"""Models and optimizers of a snapshot under the names that ``load_state_dict`` asks for; none of the program's code is run.

``Module.state_dict`` may be overridden and calls hooks; so the tensors are found as its own version finds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from firstcause.record.observe.optimizer_copy import OptimizerCopy
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.saved import Writer

# A wrapper is passed over where the program has a name for what it wraps.
WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
}


def models(recorder: Recorder, keys: Mapping[int, str]) -> dict[str, dict[str, str]]:
    """By path, the outermost modules: the key of the kept tensor for each name of their state dict.

    ``keys`` tells the key of a kept tensor by its id; a module of which one is not kept is left out.
    """
    found = dict(recorder.reachable.modules)
    inner = {id(m) for module in found.values() for m in module.modules() if m is not module}
    by_id = {id(m): path for path, m in reversed(list(found.items()))}
    result = {}
    for path, module in found.items():
        if id(module) in inner:
            continue
        wrapped = getattr(module, "_modules", {}).get(WRAPPERS.get(type(module).__name__, ""))
        if wrapped is not None and id(wrapped) in by_id:
            path, module = by_id[id(wrapped)], wrapped
        named = dict(names(module))
        if named and all(id(t) in keys for t in named.values()):
            result[path] = {n: keys[id(t)] for n, t in named.items()}
    return result


def names(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """The entries of a module's state dict: shared parameters under each of their names, persistent buffers only."""
    for path, part in module.named_modules(remove_duplicate=False):
        head = f"{path}." if path else ""
        space = object.__getattribute__(part, "__dict__")
        held = {**space.get("_parameters", {}), **space.get("_buffers", {})}
        gone = space.get("_non_persistent_buffers_set", ())
        yield from ((head + n, t) for n, t in held.items() if t is not None and n not in gone)


def optimizers(
    recorder: Recorder, writer: Writer, stepping: torch.optim.Optimizer | None
) -> dict[str, dict[str, Any]]:
    """By path, each optimizer's groups and state, as before the step; parameters by their number, as torch numbers them."""
    found: dict[int, tuple[str, torch.optim.Optimizer]] = {}
    for path, optimizer in recorder.reachable.optimizers.items():
        # Accelerate and Lightning hand out wrappers that are optimizers too; the state is that of the inner one.
        inner = object.__getattribute__(optimizer, "__dict__").get("optimizer")
        own = inner if isinstance(inner, torch.optim.Optimizer) else optimizer
        found.setdefault(id(own), (path, own))
    if stepping is not None:
        found.setdefault(id(stepping), ("optimizer", stepping))
    copies = {id(c.optimizer): c for c in recorder.before}
    return {path: _optimizer(path, o, copies.get(id(o)), writer) for path, o in found.values()}


def _optimizer(
    path: str, optimizer: torch.optim.Optimizer, copy: OptimizerCopy | None, writer: Writer
) -> dict[str, Any]:
    held = [p for group in optimizer.param_groups for p in group["params"]]
    number = {id(p): i for i, p in enumerate(held)}
    settings = [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
    entries = [(p, k, v) for p, state in optimizer.state.items() for k, v in state.items()]
    if copy is not None:
        settings, entries = copy.settings, copy.entries
    state: dict[str, dict[str, Any]] = {}
    for parameter, key, value in entries:
        if id(parameter) in number:
            place = str(number[id(parameter)])
            state.setdefault(place, {})[str(key)] = writer.encode(f"optimizer/{path}/{place}/{key}", value)
    groups = [
        {k: writer.encode(f"optimizer/{path}/group{i}/{k}", v) for k, v in g.items() if isinstance(k, str)}
        | {"params": [number[id(p)] for p in own["params"]]}
        for i, (g, own) in enumerate(zip(settings, optimizer.param_groups, strict=True))
    ]
    return {"groups": groups, "state": state}
