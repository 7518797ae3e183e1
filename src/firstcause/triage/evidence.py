"""What the messages, frames and figures of a text tell beside their wording: contexts, culprits, and what is only claimed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from firstcause.schema.triage import Seen
from firstcause.triage.hand import LINES
from firstcause.triage.reading import Raised, Reading
from firstcause.triage.routes import Evidence
from firstcause.triage.told import Told
from firstcause.triage.words import Understood

# Claimed by figures alone, never by words: people blame them far more often than they happen.
FIGURES_ONLY = frozenset({"memory-fragmentation"})
_TRAINS = frozenset(
    {
        "train",
        "training_step",
        "_inner_training_loop",
        "backward",
        "train_one_epoch",
        "train_epoch",
        "compute_loss",
        "fit",
    }
)
_SEQUENCE = re.compile(r"SeqNum=(\d+)(?:, OpType=(\w+))?")
_EMPTY_FILE = "Ran out of input"
_CLASSES = "Class values must be"
_ONE_HOT_LABELS = re.compile(
    r"one_hot\(\s?(?:\w{1,30}\.)?(?:y|ys|yb|gt|t|\w{0,20}(?:label|target|mask|class|cls|truth)\w{0,12})\b",
    re.IGNORECASE,
)
_BARRIER, _TRANSPORT = "monitoredBarrier", "Timed out waiting"
_LOADS = re.compile(
    r"\btorch\.load\(|torch/serialization|load_checkpoint|\.(?:ckpt|pth?|pkl)\b|\bcheckpoint(?!ing)"
    r"|\bpickle\.load\(|\b0[ -]?bytes?\b"
)
_BY_THE_KERNEL = re.compile(
    r"out of memory: Killed process|oom-kill|oom_reaper|Memory cgroup out", re.IGNORECASE
)
_KERNEL = re.compile(r"block: \[\d+, ?\d+, ?\d+\], thread: .{0,60}Assertion")
_OURS = (
    "torch",
    "cuda",
    "cudnn",
    "nccl",
    "cublas",
    "autograd",
    "gradient",
    "tensor",
    "deepspeed",
    "lightning",
    "accelerate",
    "vllm",
    "dataloader",
    "hip error",
    "mps backend",
)
_FOREIGN = (
    "numpy.",
    "pandas.",
    "sklearn.",
    "scipy.",
    "jax",
    "flax",
    "tensorflow",
    "keras",
    "mxnet",
    "paddle",
    "onnxruntime",
    "xgboost",
    "lightgbm",
    "sqlalchemy",
)
# How an accelerator is named.
_CARDS = ("cuda", "CUDA", "hip", "xpu", "mps", "npu")
_EMPTY = frozenset(
    {
        "",
        "cuda error",
        "error",
        "failed",
        "unknown error",
        "internal error",
        "an error occurred",
        "unknown",
        "something",
        "..",
        "cuda",
    }
)
# Less idle memory than this is ordinary rounding of blocks; a CUDA context alone takes about as much as CONTEXT.
LEAST_IDLE = 2**30
CONTEXT = 0.6 * 2**30
# So much of a message tells where it begins.
BEGINS = 24
# Of the driver's Xid numbers those that a program brings about: exceptions of kernels, page faults, a stopped channel.
_XID = re.compile(r"Xid \([^)]{1,40}\): (\d{1,3})")
_BY_PROGRAMS = frozenset({13, 31, 43, 45})
# A row of nvidia-smi's table of processes; a card's size; "12 MB free of 24 GB".
_HOLDS = re.compile(r"\|[^|\n]{0,20}\d{2,8}\s{1,4}(?:C|G|C\+G)\b[^|\n]{1,80}?\b(\d{2,7})\s?MiB")
_CARD = re.compile(r"\b(\d{1,3})\s?GB (?:card|gpu|vram)", re.IGNORECASE)
_FREE = re.compile(
    r"\b(\d{1,6}(?:\.\d{1,3})?)\s?([MG]i?B) (?:is |are |was |were )?free (?:of|out of|from|/)(?: the| its| total)?"
    r" (\d{1,6}(?:\.\d{1,3})?)\s?([MG]i?B)",
    re.IGNORECASE,
)
# Of a card that is full so little is free at most (a share); less than so many GiB in the table is a desktop.
FULL, LEAST_HELD = 0.1, 2.0
_UNITS = {"kib": 2**10, "kb": 2**10, "mib": 2**20, "mb": 2**20, "gib": 2**30, "gb": 2**30, "bytes": 1, "b": 1}


def evidence(reading: Reading, understood: Understood) -> Evidence:
    """What overrules or follows when specialists are chosen."""
    contexts = set(understood.labels("context"))
    if any(s.rank is not None for s in reading.seen) or any(r.rank is not None for r in reading.raised):
        contexts.add("distributed")
    if any("device_ids[0]" in s.text for s in reading.seen):
        # DataParallel's own check of its module.
        contexts.add("distributed")
    functions = {frame.function for raised in reading.raised for frame in raised.frames}
    return Evidence(
        frozenset(contexts),
        _observed(reading.facts.get("dtypes"), reading, understood),
        _observed(reading.facts.get("devices"), reading, understood),
        raised=any(says_something(raised) for raised in reading.raised),
        training=bool(functions & _TRAINS),
        killed_by_kernel=any(_BY_THE_KERNEL.search(message.text) for message in reading.seen),
    )


def frames_tell(raised: Sequence[Raised]) -> list[str]:
    """Patterns by where an exception was raised: in the user's own backward, whatever its message."""
    found = []
    for exception in raised:
        own = [frame for frame in exception.frames if frame.own]
        through_autograd = any(
            frame.file.replace("\\", "/").endswith("torch/autograd/function.py") for frame in exception.frames
        )
        if (
            own
            and through_autograd
            and exception.frames[-1] is own[-1]
            and own[-1].function in ("backward", "vjp", "setup_context")
        ):
            found.append("wrong-gradient")
    return found


def decided(seen: Sequence[Seen], reading: Reading) -> list[str]:
    """The patterns of the messages, but for those that the text's own figures or another message contradict."""
    patterns = [message.pattern for message in seen]
    foreign = foreign_memory(reading)
    dropped = {"missing-file"} if "dataset-exception" in patterns else set()
    lines = {pattern: {m.line for m in seen if m.pattern == pattern} for pattern in patterns}
    if lines.get("checkpoint-write-failed", {0}) <= lines.get("dataloader-shm", set()):
        # No space left, in the memory that workers share.
        dropped.add("checkpoint-write-failed")
    if foreign is False:
        dropped.add("foreign-process-memory")
    if any(_BARRIER in message.text for message in seen) and all(
        _TRANSPORT in message.text for message in seen if message.pattern == "nccl-timeout"
    ):
        # The barrier's own report quotes what its transport waited for.
        dropped.add("nccl-timeout")
    codes = {int(n) for m in seen if m.pattern == "hardware-ecc" for n in _XID.findall(m.text)}
    if codes and codes <= _BY_PROGRAMS:
        patterns = ["illegal-memory-access" if p == "hardware-ecc" else p for p in patterns]
    if any(_CLASSES in message.text for message in seen) and _of_labels(reading.raised):
        patterns = ["target-out-of-range" if p == "index-out-of-range" else p for p in patterns]
    if any(_EMPTY_FILE in message.text for message in seen) and _LOADS.search(_told_at(reading)):
        # A pickle ends early between processes, and in a file that was not written to its end.
        patterns = ["checkpoint-corrupt" if pattern == "pickling-error" else pattern for pattern in patterns]
    return [pattern for pattern in patterns if pattern not in dropped]


def _of_labels(raised: Sequence[Raised]) -> bool:
    """Whether labels are what a frame of the user's makes one-hot, by the name that they bear."""
    return any(
        _ONE_HOT_LABELS.search(frame.source)
        for exception in raised
        for frame in exception.frames
        if frame.own
    )


def _told_at(reading: Reading) -> str:
    frames = (f"{frame.file} {frame.function} {frame.source}" for r in reading.raised for frame in r.frames)
    return "\n".join([reading.code, reading.prose, *frames])[:40_000]


def kernels_tell(seen: Sequence[Seen]) -> list[str]:
    """A check that failed inside of a CUDA kernel is a device-side assert, whether or not the error says so."""
    return ["cuda-device-side-assert"] if any(_KERNEL.search(message.text) for message in seen) else []


def scales_tell(seen: Sequence[Seen]) -> list[str]:
    """Where even the smallest scale overflows, the gradients themselves are not finite."""
    at_minimum = any(m.pattern == "loss-scale-minimum" and "minimum" in m.text.lower() for m in seen)
    return ["nan-gradient"] if at_minimum else []


def ranks_tell(reading: Reading) -> list[str]:
    """Ranks that waited at different numbers, or at one number in different collectives, took different ways."""
    waited = {
        m.rank: found.groups()
        for m in reading.seen
        if (found := _SEQUENCE.search(m.text)) and m.pattern == "nccl-timeout"
    }
    return ["desync"] if len(set(waited.values())) > 1 else []


def is_ours(raised: Raised) -> bool:
    """Whether an exception comes from PyTorch or a library around it: by its frames, its type or its message."""
    if is_foreign(raised):
        return False
    names = f"{raised.exception} {raised.message}".lower()
    return any("torch" in frame.file for frame in raised.frames) or any(word in names for word in _OURS)


def of_a_card(reading: Reading) -> bool:
    """Whether a log names an accelerator, or ranks and a type of tensors: a training or a server wrote it."""
    facts = reading.facts
    cards = any(str(name).startswith(_CARDS) for name in facts.get("devices", ()))
    return reading.lines > LINES and (cards or ("ranks" in facts and "dtypes" in facts))


def is_foreign(raised: Raised) -> bool:
    """Whether an exception is of another library's own type."""
    return raised.exception.lower().startswith(_FOREIGN)


def says_something(raised: Raised) -> bool:
    """Whether the message of an exception tells more than that there was one."""
    return raised.message.strip(" .!?…`'\"").lower() not in _EMPTY


def shown_by_figures(reading: Reading) -> list[str]:
    """Fragmentation, and another process on the card, where the message's own figures show them."""
    gib = reading.facts.get("gib")
    if not isinstance(gib, dict):
        return []
    sizes = {key: size(value) for key, value in gib.items()}
    found = []
    tried, allocated = sizes.get("tried"), sizes.get("allocated")
    idle = sizes.get("reserved_unallocated")
    for pool in ("cached", "reserved"):
        if idle is None and allocated is not None and sizes.get(pool) is not None:
            idle = (sizes[pool] or 0.0) - allocated
    if tried and idle is not None and idle >= LEAST_IDLE:
        share = idle / (idle + (allocated or 0.0))
        if idle >= tried or (share >= 1 / 3 and idle + (sizes.get("free") or 0.0) >= 0.9 * tried):
            found.append("memory-fragmentation")
    if foreign_memory(reading):
        found.append("foreign-process-memory")
    return found


def others_tell(reading: Reading, understood: Understood) -> list[str]:
    """Another process on the card, where it has no room for the first bytes of a small program.

    Shown by the table of nvidia-smi after a failure without figures of the allocator, or by what is said to be free.
    """
    starved = any(m.pattern in ("cuda-oom", "cublas-error", "cudnn-error") for m in reading.seen)
    if not (starved or understood.says("pattern", "cuda-oom")) or "tried" in (reading.facts.get("gib") or {}):
        return []
    text = f"{reading.prose}\n{reading.code}\n" + "\n".join(m.text for m in reading.seen)
    small = understood.says("context", "little-is-asked-for")
    held = max((float(m[1]) / 1024 for m in _HOLDS.finditer(text)), default=0.0)
    card = max((float(m[1]) for m in _CARD.finditer(text)), default=0.0)
    free = _FREE.search(text)
    full = free and (size(f"{free[1]} {free[2]}") or 0.0) <= FULL * (size(f"{free[3]} {free[4]}") or 0.0)
    listed = held >= LEAST_HELD and (small or held >= 0.5 * card > 0)
    return ["foreign-process-memory"] if listed or (full and small) else []


def foreign_memory(reading: Reading) -> bool | None:
    """Whether the figures show memory that neither this process nor the free part explains; None without figures."""
    gib = reading.facts.get("gib")
    if not isinstance(gib, dict):
        return None
    total, free, allocated = (size(gib.get(key)) for key in ("total", "free", "allocated"))
    own = size(gib.get("this_process"))
    if own is None and allocated is not None:
        pool = size(gib.get("reserved")) or size(gib.get("cached"))
        own = max(pool or 0.0, allocated + (size(gib.get("reserved_unallocated")) or 0.0)) + CONTEXT
    if total is None or free is None or own is None:
        return None
    return total - free - own >= max(2 * 2**30, 0.1 * total)


def size(value: Any) -> float | None:
    """A size in bytes from a figure with its unit; a bare number counts in GiB; None for anything else."""
    parts = str(value).replace("GiB", " GiB").replace("MiB", " MiB").split()
    try:
        number = float(parts[0])
    except (IndexError, ValueError):
        return None
    return number * _UNITS.get(parts[1].lower(), 1) if len(parts) > 1 else number * 2**30


def without_claims(seen: Sequence[Seen], prose: str, told: Told) -> tuple[Seen, ...]:
    """The messages but for those that only a theory or somebody else's word holds."""
    claims = [" ".join(clause.text.split()) for clause in told.claimed]
    observed = " \n ".join(" ".join(clause.text.split()) for clause in told.observed)

    def claimed(message: Seen) -> bool:
        line = " ".join(message.text.lower().split())
        if message.rank is not None or line not in " ".join(prose.lower().split()):
            return False
        # "The file might be corrupted" is a message's own hedge: whose it is shows where it begins.
        inside = [claim for claim in claims if claim and (line.startswith(claim) or line[:BEGINS] in claim)]
        return bool(inside) and not any(clause in line for clause in observed.split(" \n ") if clause)

    return tuple(message for message in seen if not claimed(message))


def _observed(value: Any, reading: Reading, understood: Understood) -> tuple[str, ...]:
    """Those names that a message or an observation holds; what only a claim names tells nothing."""
    texts = [message.text for message in reading.seen] + [raised.message for raised in reading.raised]
    text = " ".join([*texts, *(clause.text for clause in understood.told.observed)]).lower()
    return tuple(name for name in _strings(value) if name.lower() in text)


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(v) for v in value) if isinstance(value, (list, tuple)) else ()
