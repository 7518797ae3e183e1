"""A snapshot on disk: what a fresh process loads at the first mark, as JSON and plain tensors.

``state.json`` holds structure and scalars, ``state.pt`` a flat dict of tensors that loads with
``weights_only=True``. Nothing is pickled; a value that is neither a tensor nor plain is noted as opaque, and a
fresh process keeps its own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch

from firstcause.record import checked, private, redact
from firstcause.record.observe import (
    check,
    failure,
    held_state,
    library_loops,
    other_device,
    privacy,
    rng,
    room,
)
from firstcause.record.observe.kept import Kept, strong
from firstcause.record.observe.marks import CANDIDATES
from firstcause.record.observe.snapshot import Snapshot
from firstcause.record.sizes import size

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder

Part = Literal["all", "without optimizers", "batch", "models", "models alone"]
# Each is smaller than the one before, and still of use: a replay and a restore, a replay, a look at the batch.
PARTS: tuple[Part, ...] = ("all", "without optimizers", "batch")
PLAIN = (int, float, bool, str, type(None))
# torch 2.4 writes no unsigned integers beyond a byte, of which NumPy's generator has some.
SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


class TooLarge(Exception):
    """The snapshot would be larger than its limit in bytes."""


class Written(NamedTuple):
    """Why a fresh process cannot begin from a snapshot, and what else was left out of it; each may be empty."""

    not_saved: str
    left_out: str = ""


class Writer:
    """Collects tensors under keys while structure becomes JSON."""

    def __init__(
        self,
        dead: bool = False,
        hosts: Mapping[int, torch.Tensor] | None = None,
        limit: int = room.BYTES,
    ) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self.bytes, self.limit = 0, limit
        self.secrets = redact.held()
        self.devices: set[str] = set()
        # Of a device that gives nothing back, what stands on the host in place of a tensor, by its id.
        self.dead = dead
        self.hosts = dict(hosts or {})

    def readable(self, tensor: torch.Tensor) -> bool:
        """Whether its values can still be had."""
        return not self.dead or tensor.device.type == "cpu" or id(tensor) in self.hosts

    def keep(self, key: str, tensor: torch.Tensor) -> str:
        self.devices.add(tensor.device.type)
        # Of a tensor that several ranks share, what this one holds.
        plain = check.shard(self.hosts.get(id(tensor), tensor)).detach()
        plain = plain.to_dense() if plain.layout is not torch.strided else plain
        # A view of a larger storage would be saved with all of it.
        self.tensors[key] = (
            plain.clone(memory_format=torch.contiguous_format)
            if plain.untyped_storage().nbytes() > plain.nbytes
            else plain
        )
        self.bytes += plain.nbytes
        if self.bytes > self.limit:
            raise TooLarge
        return key

    def encode(self, key: str, value: Any, depth: int = 6) -> Any:
        """A value as JSON: plain values as they are, tensors by key, containers within, the rest opaque."""
        kind = type(value)
        if kind is str and redact.value(value, self.secrets, key.rpartition("/")[2]) != value:
            # A fresh process has its own.
            return {"o": "str"}
        if kind in PLAIN:
            return {
                "v": value
                if not isinstance(value, float) or (value == value and abs(value) != float("inf"))
                else None,
                "f": repr(value),
            }
        if (kind is torch.Tensor or kind is torch.nn.Parameter) and self.readable(value):
            where = {} if value.device.type == "cpu" else {"device": str(value.device)}
            return {"t": self.keep(key, value), "grad": value.requires_grad and value.grad_fn is None} | where
        numpy = sys.modules.get("numpy")
        if numpy is not None and kind is numpy.ndarray and value.dtype.kind in "fiub":
            return {"n": self.keep(key, torch.from_numpy(numpy.ascontiguousarray(value).copy()))}
        if depth and kind in (list, tuple) and len(value) <= 10_000:
            return {
                "l" if kind is list else "u": [
                    self.encode(f"{key}.{i}", v, depth - 1) for i, v in enumerate(value)
                ]
            }
        if (
            depth
            and isinstance(value, dict)
            and all(type(k) in (str, int) for k in value)
            and len(value) <= 10_000
        ):
            return {"d": [[k, self.encode(f"{key}.{k}", v, depth - 1)] for k, v in value.items()]}
        return {"o": kind.__name__}


def decode(data: Any, tensors: dict[str, torch.Tensor], own: Any) -> Any:
    """The value again; ``own`` is what the fresh process has, kept where the saved value is opaque."""
    if "v" in data:
        return float(data["f"]) if data["v"] is None and data["f"] != "None" else data["v"]
    if "t" in data:
        made = tensors[data["t"]].clone()
        if "device" in data and other_device.wanted() is None:
            made = made.to(data["device"])
        return made.requires_grad_(bool(data["grad"]))
    if "n" in data:
        return tensors[data["n"]].numpy().copy()
    if "l" in data or "u" in data:
        items = data.get("l", data.get("u"))
        mine = list(own) if type(own) in (list, tuple) else []
        made = [decode(d, tensors, mine[i] if i < len(mine) else None) for i, d in enumerate(items)]
        return made if "l" in data else tuple(made)
    if "d" in data:
        mine_of = own if isinstance(own, dict) else {}
        # What could not be kept and is not there either stays away: None in its place would be a value of ours.
        there = [(k, d) for k, d in data["d"] if "o" not in d or k in mine_of]
        made_of = {k: decode(d, tensors, mine_of.get(k)) for k, d in there}
        if isinstance(own, dict) and type(own) is not dict:
            # BatchEncoding and the like: the program's own type, with the saved content.
            own.clear()
            own.update(made_of)
            return own
        return made_of
    return own


def write(
    recorder: Recorder, folder: str, optimizer: torch.optim.Optimizer | None, dead: bool = False
) -> Written:
    """Write the window's state, or the part of it for which there is room.

    ``dead``: the device gives nothing back, and only what lies on the host is written.
    """
    try:
        bytes_left, why = room.room(folder)
        parts: tuple[Part, ...] = ("models", "models alone") if privacy.asked() else PARTS
        for part in parts if bytes_left else ():
            writer = Writer(dead, limit=bytes_left)
            try:
                structure = _structure(recorder, writer, optimizer, part)
            except TooLarge:
                continue
            put(folder, structure, writer.tensors)
            return _lacking(recorder, part, why)
    except (OSError, RuntimeError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        return Written(f"the state of the step could not be written: {error}")
    return Written(f"the state of the step was not kept: it takes {why}" if bytes_left else why)


def put(folder: str, structure: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    """The two files of a snapshot; raises ``OSError`` or ``RuntimeError`` where the disk does not take them."""
    private.make_folder(folder)
    unsigned = {key: str(t.dtype).removeprefix("torch.") for key, t in tensors.items() if t.dtype in SIGNED}
    structure = structure | {"unsigned": unsigned}
    tensors = tensors | {key: tensors[key].view(SIGNED[tensors[key].dtype]) for key in unsigned}
    with open(os.path.join(folder, "state.json"), "w", encoding="utf-8", opener=private.opener) as text:
        text.write(checked.dumps(structure, None))
    with open(os.path.join(folder, "state.pt"), "wb", opener=private.opener) as file:
        torch.save(tensors, file)


def _lacking(recorder: Recorder, part: Part, why: str) -> Written:
    """What a part of the state is not enough for, and how large the rest is."""
    parameters = size(sum(p.nbytes for p in recorder.parameters))
    state = "the optimizers' state was not kept, so no optimizer can be restored"
    if part in ("models", "models alone"):
        # No replay without the batch, whatever the rest is.
        return Written(f"{privacy.WHY} of a batch", state if part == "models alone" else "")
    if part == "without optimizers":
        return Written("", f"{state}: with it the snapshot takes {why}")
    if part == "batch":
        left = (
            f"its parameters ({parameters}) and optimizers were not kept: with them the snapshot takes {why}"
        )
        return Written("only the batch and the random numbers of the step were kept", left)
    return Written("")


def _structure(
    recorder: Recorder, writer: Writer, optimizer: torch.optim.Optimizer | None, part: Part
) -> dict[str, Any]:
    window = recorder.window
    earlier = {id(p): value for c in reversed(recorder.before) for p, value in c.parameters}
    earlier |= {id(b): value for b, value in (*window[0].buffers, *window[0].copies)}
    modules: dict[str, dict[str, str]] = {}
    keys: dict[int, str] = {}
    for path, module in recorder.reachable.modules.items() if part != "batch" else ():
        modules[path] = {}
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            value = earlier.get(id(tensor), tensor)
            if writer.readable(value):
                key = keys[id(tensor)] = writer.keep(f"module/{path}/{name}", value)
                modules[path][name] = key
    structure: dict[str, Any] = {
        "unit": CANDIDATES[window[-1].k].key,
        "step": recorder.step,
        "modules": modules,
        "models": held_state.models(recorder, keys),
    }
    if part in ("all", "models"):
        structure["optimizers"] = held_state.optimizers(recorder, writer, optimizer)
    if part in ("models", "models alone"):
        return structure
    loose = {p: t for p, t in recorder.reachable.tensors.items() if t.is_leaf and t.requires_grad}
    paths = {id(o): p for p, o in recorder.reachable.optimizers.items()}
    state = {id(k): v for k, v in window[0].generators}
    structure |= {
        "tensors": {
            p: writer.keep(f"tensor/{p}", earlier.get(id(t), t))
            for p, t in (loose.items() if part != "batch" else ())
            if writer.readable(t)
        },
        "objects": _objects(recorder, window[0], writer),
        "generators": {
            p: writer.encode(f"generator/{p}", _listed(state.get(id(g))))
            for p, g in recorder.reachable.generators.items()
        },
        "window": [_pass(s, i, recorder, writer) for i, s in enumerate(window)],
        "optimizer": paths.get(id(optimizer)),
        # An optimizer that has no path is told by how many came before it.
        "steps": _arrivals(recorder, optimizer, paths),
        "gradients": {n: checksum(p.grad) for n, p in _gradients(recorder, optimizer)},
        "norms": {n: writer.encode("", v) for n, v in (recorder.deferred.late_norms or {}).items()},
    }
    return structure | {"devices": sorted(writer.devices | ({"cuda"} if writer.dead else set()))}


def _arrivals(recorder: Recorder, optimizer: torch.optim.Optimizer | None, paths: dict[int, str]) -> int:
    return recorder.stepped.count(optimizer) if id(optimizer) in paths else len(recorder.stepped)


def _gradients(recorder: Recorder, optimizer: torch.optim.Optimizer | None) -> list[tuple[str, torch.Tensor]]:
    if optimizer is None or recorder.deferred.late_norms is not None:
        return []
    names = failure.parameter_names(recorder)
    held = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
    return [(names[id(p)], p) for p in held if id(p) in names]


def _pass(snapshot: Snapshot, number: int, recorder: Recorder, writer: Writer) -> dict[str, Any]:
    del recorder
    copies = {id(t): c for t, c in snapshot.copies}
    values = {n: copies.get(id(v), v) for n, v in snapshot.values.items()}
    return {
        "values": {n: writer.encode(f"pass{number}/{n}", v) for n, v in values.items()},
        "drawn": [writer.encode(f"pass{number}/drawn{i}", v) for i, (v, _) in enumerate(snapshot.drawn)],
        "drawn_rng": [
            encode_rng(writer, f"pass{number}/rng{i}", r) for i, (_, r) in enumerate(snapshot.drawn)
        ],
        "rng": encode_rng(writer, f"pass{number}/rng", snapshot.rng),
    }


def encode_rng(writer: Writer, key: str, state: dict[str, Any]) -> dict[str, Any]:
    """The global random states as JSON, their tensors under ``key``."""
    return {k: writer.encode(f"{key}/{k}", _listed(v)) for k, v in state.items()}


def _objects(recorder: Recorder, snapshot: Snapshot, writer: Writer) -> dict[str, Any]:
    held: dict[int, Kept] = {}
    for kept in snapshot.kept:
        held.setdefault(id(getattr(kept.where, "namespace", kept.where)), kept)
    result = {}
    for path, owner in recorder.reachable.objects.items():
        kept_of = held.get(id(object.__getattribute__(owner, "__dict__")))
        if kept_of is not None and isinstance(kept_of.content, dict):
            # What a library counts is plain; the rest of its objects is bound to the process.
            counting = type(owner).__module__.startswith(library_loops.COUNTING)
            encoded = {
                k: writer.encode(f"object/{path}/{k}", _at_mark(v, held), 2)
                for k, v in kept_of.content.items()
                if isinstance(k, str) and (not counting or type(v) in PLAIN)
            }
            result[path] = {k: v for k, v in encoded.items() if "o" not in v}
    return result


def _at_mark(value: Any, held: dict[int, Kept], depth: int = 3) -> Any:
    """A container as it was at the mark; the pass has filled it since, or put another in its place."""
    if type(value) is tuple and depth:
        return tuple(_at_mark(v, held, depth - 1) for v in value)
    kept = held.get(id(value))
    if kept is None or kept.where is not value or not depth:
        return value
    content = kept.content
    if isinstance(content, dict):
        return {k: _at_mark(v, held, depth - 1) for k, v in strong(content).items()}
    if isinstance(value, list):
        items = value[:content] if isinstance(content, int) else content
        return [_at_mark(v, held, depth - 1) for v in items]
    return value


def _listed(value: Any) -> Any:
    """Tuples of RNG states with arrays inside, as containers that ``encode`` takes."""
    return list(value) if type(value) is tuple else value


def checksum(tensor: torch.Tensor | None) -> int | None:
    """A position-dependent 64-bit sum over the bits of a tensor, NaN included; equal bits give equal sums."""
    if tensor is None:
        return None
    plain = check.shard(tensor).detach()
    plain = plain.to_dense() if plain.layout is not torch.strided else plain
    # + 0 makes -0.0 and 0.0 the same, as the comparison in a forked child does.
    flat = (plain + 0).contiguous().reshape(-1)
    flat = (
        torch.where(torch.isnan(flat), torch.full_like(flat, float("nan")), flat)
        if flat.is_floating_point()
        else flat
    )
    bits = (
        flat.cpu()
        .view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[flat.element_size()])
        .long()
    )
    return int((bits * (torch.arange(len(bits)) * 2654435761 + 1)).sum())


def load(folder: str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Structure and tensors of a snapshot; raises ``OSError`` or ``ValueError`` where they cannot be read."""
    with open(os.path.join(folder, "state.json"), encoding="utf-8") as file:
        structure = checked.loads(file.read())
    tensors = torch.load(os.path.join(folder, "state.pt"), weights_only=True, map_location="cpu")
    for key, name in structure.get("unsigned", {}).items():
        tensors[key] = tensors[key].view(getattr(torch, name))
    return structure, tensors


def decode_rng(data: dict[str, Any], tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """The global random states again, without those of a library that is not loaded here."""
    state = {k: decode(v, tensors, None) for k, v in data.items()}
    if "python" in state:
        state["python"] = _python_state(state["python"])
    if isinstance(state.get("numpy"), list):
        state["numpy"] = tuple(state["numpy"])
    if "numpy" in state and "numpy" not in sys.modules:
        del state["numpy"]
    if not torch.cuda.is_initialized():
        state.pop("cuda", None)
    return state


def put_back_rng(data: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    rng.set_global_state(decode_rng(data, tensors))


def _python_state(listed: Any) -> Any:
    version, internal, gauss = listed
    return (version, tuple(internal), gauss)


def put_back_generator(generator: Any, data: Any, tensors: dict[str, torch.Tensor]) -> None:
    state = decode(data, tensors, None)
    if state is None:
        return
    if type(generator) is torch.Generator and generator.get_state().shape != state.shape:
        # Another device's: its numbers are other ones.
        return
    if type(generator).__name__ == "Random":
        state = _python_state(state)
    rng.set_state_of(generator, tuple(state) if type(generator).__name__ == "RandomState" else state)
